// Shows what `ubp_get_graph` answers, in the frame that a host of MCP Apps (version 2026-01-26) gives it.
(() => {
  "use strict";

  const host = window.parent;
  const generator = document.querySelector("meta[name=generator]");
  const waiting = new Map(); // id of a request → what settles its promise
  const darkRules = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule.media?.mediaText.includes("prefers-color-scheme"));
  let lastId = 0;
  let answering = {}; // the host's capabilities
  let given = {}; // the arguments of the call whose answer is shown
  let modes = []; // that the host can show
  let picture = null;

  const send = (message) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (method, params = {}) => send({ method, params });
  const ask = (method, params) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      send({ id: lastId, method, params });
    });
  const find = (id) => document.getElementById(id);
  const say = (text) => {
    (find("message") || document.querySelector("[data-part=question]")).textContent = text;
  };

  function show(result) {
    const graph = result._meta?.["ubp/graph"];
    if (result.isError || !graph) {
      const texts = (result.content || []).map((part) => part.text).filter(Boolean);
      say(texts.join("\n") || "The answer contains no graph.");
      return;
    }
    picture?.destroy();
    const page = new DOMParser().parseFromString(graph.markup, "text/html");
    document.body.replaceChildren(...page.body.childNodes);
    const root = document.querySelector(".graph-view");
    picture = drawGraph(root, graph.data, answering.serverTools ? { showAround } : {});
    if (modes.includes("fullscreen")) addFullScreenButton();
  }

  async function showAround(path) {
    const wanted = { ...given, center: path };
    say("Reading…");
    try {
      const result = await ask("tools/call", { name: "ubp_get_graph", arguments: wanted });
      if (!result.isError) given = wanted;
      show(result);
      document.querySelector("[data-part=picture]").focus();
    } catch (error) {
      say(error.message);
    }
  }

  function addFullScreenButton() {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Full screen";
    button.addEventListener("click", async () => {
      const isFull = !document.body.classList.contains("graph-app");
      const mode = isFull ? "inline" : "fullscreen";
      await ask("ui/request-display-mode", { mode }).then(follow, (error) => say(error.message));
    });
    document.querySelector("[data-part=fit]").after(button);
  }

  // The host may choose another color scheme than the system, and another size.
  function follow({ theme, mode, displayMode = mode, availableDisplayModes }) {
    if (theme === "light" || theme === "dark") {
      document.documentElement.style.colorScheme = theme;
      for (const rule of darkRules) rule.media.mediaText = theme === "dark" ? "screen" : "not all";
      picture?.restyle();
    }
    if (displayMode) document.body.classList.toggle("graph-app", displayMode !== "fullscreen");
    if (availableDisplayModes) modes = availableDisplayModes;
  }

  const received = {
    "ui/notifications/tool-input": (params) => {
      given = params.arguments || {};
    },
    "ui/notifications/tool-result": show,
    "ui/notifications/tool-cancelled": () => say("The call was cancelled."),
    "ui/notifications/host-context-changed": follow,
  };
  const answers = { ping: () => ({}), "ui/resource-teardown": () => ({}) };

  window.addEventListener("message", ({ source, data }) => {
    if (source !== host || data?.jsonrpc !== "2.0") return;
    const { id, method, params = {}, result, error } = data;
    if (method === undefined) {
      const request = waiting.get(id);
      waiting.delete(id);
      if (error) request?.reject(new Error(error.message));
      else request?.resolve(result);
    } else if (id === undefined) {
      received[method]?.(params);
    } else if (method in answers) {
      send({ id, result: answers[method](params) });
    } else {
      send({ id, error: { code: -32601, message: `Unknown method: ${method}` } });
    }
  });

  ask("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "ubp", version: generator.content.replace("UBP ", "") },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  }).then(
    ({ hostCapabilities = {}, hostContext = {} }) => {
      answering = hostCapabilities;
      follow(hostContext);
      notify("ui/notifications/initialized");
      new ResizeObserver(() => {
        const { width, height } = document.documentElement.getBoundingClientRect();
        notify("ui/notifications/size-changed", {
          width: Math.ceil(width), height: Math.ceil(height),
        });
      }).observe(document.documentElement);
    },
    (error) => say(error.message),
  );
})();
