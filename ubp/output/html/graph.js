"use strict";

// Draws the graph that `data` describes into the page, whose list of pages remains without a script.
// `showAround(path)` shows the graph around another page, where that is possible.
function drawGraph(data, { showAround } = {}) {
  const { pages, links, types, levels } = data;
  const find = (id) => document.getElementById(id);
  const details = find("details");
  const checked = (name) =>
    new Set([...document.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value));
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const words = pages.map((page) => fold(`${page.title} ${page.path}`));
  const shapes = {
    stale: "diamond", possibly_stale: "triangle", unknown: "rectangle",
    fresh: "ellipse", untracked: "ellipse",
  };
  const outgoing = pages.map(() => []);
  const incoming = pages.map(() => []);
  for (const [from, to, type] of links) {
    outgoing[from].push([to, type]);
    incoming[to].push([from, type]);
  }
  let selected = null;
  // Folders that are drawn as one node.
  const folded = new Set(data.isFolded ? topFolders() : []);

  function topFolders() {
    const tops = new Set(pages.map((page) => page.folder.split("/")[0]).filter(Boolean));
    if (tops.size > 1) return [...tops];
    // All pages are in one folder: its parts say more.
    return [...new Set(pages.map((page) => page.folder.split("/").slice(0, 2).join("/")))].filter(
      (folder) => folder.includes("/"),
    );
  }

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  function levelColor(level) {
    return color(level === "possibly_stale" ? "possibly" : level);
  }

  function style() {
    const text = color("text");
    return [
      {
        selector: "node",
        style: {
          label: "data(label)", color: text, "font-size": 9, "text-valign": "bottom",
          "text-margin-y": 3, "text-max-width": 110, "text-wrap": "ellipsis",
          "min-zoomed-font-size": 7, width: "data(size)", height: "data(size)",
          "text-background-color": color("card"), "text-background-opacity": 0.75,
        },
      },
      ...Object.keys(levels).map((level) => ({
        selector: `node.${level}`,
        style: {
          shape: shapes[level],
          "background-color": level === "untracked" ? color("card") : levelColor(level),
          "border-width": level === "untracked" ? 2 : 0, "border-color": levelColor(level),
        },
      })),
      {
        selector: "node.folder",
        style: {
          shape: "round-rectangle", "background-color": color("sunken"),
          "background-opacity": 0.55, "border-width": 1, "border-color": color("line"),
          "text-valign": "top", "font-size": 11, color: color("quiet"), padding: 12,
          "min-zoomed-font-size": 6,
        },
      },
      {
        selector: "node.folded",
        style: {
          "background-color": color("accent"), "background-opacity": 0.25,
          "border-color": color("accent"), "border-width": 2, "text-valign": "center",
          color: text, "text-background-opacity": 0,
        },
      },
      {
        selector: "node.source",
        style: {
          shape: "vee", "background-color": color("quiet"), width: 9, height: 9, "font-size": 7,
        },
      },
      {
        selector: "edge",
        style: {
          width: "data(width)", "curve-style": "haystack", "haystack-radius": 0,
          "line-color": color("references"), opacity: 0.45,
        },
      },
      ...types.map((type) => ({
        selector: `edge.${type}`,
        style: {
          "line-color": color(type), "line-style": type === "conflicts_with" ? "dashed" : "solid",
          opacity: type === "references" ? 0.4 : 0.8,
        },
      })),
      { selector: "edge.describes", style: { "line-style": "dotted", opacity: 0.6 } },
      { selector: ".dimmed", style: { opacity: 0.12 } },
      {
        selector: "edge.near",
        style: {
          "curve-style": "straight", "target-arrow-shape": "triangle", "arrow-scale": 0.7,
          opacity: 0.95, "z-index": 9,
        },
      },
      ...types.map((type) => ({
        selector: `edge.near.${type}`, style: { "target-arrow-color": color(type) },
      })),
      {
        selector: "node:selected",
        style: { "border-width": 4, "border-color": color("accent"), "z-index": 10 },
      },
    ];
  }

  function fits(page, number) {
    const age = Number(find("age").value);
    const folder = find("folder").value;
    return (
      checked("level").has(page.level) &&
      (!age || (page.age !== null && page.age >= age)) &&
      (!folder || page.folder === folder || page.folder.startsWith(`${folder}/`)) &&
      fold(find("search").value).split(/\s+/u).every((word) => words[number].includes(word))
    );
  }

  // The folders around a page, the outermost first.
  function above(page) {
    const parts = page.folder ? page.folder.split("/") : [];
    return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  }

  function elements() {
    const nodes = new Map();
    const shown = new Map(); // page → id of the node that stands for it
    const inside = new Map(); // folded folder → its pages
    pages.forEach((page, number) => {
      if (!fits(page, number)) return;
      const closed = above(page).find((folder) => folded.has(folder));
      if (closed === undefined) {
        shown.set(number, `page:${number}`);
      } else {
        shown.set(number, `folder:${closed}`);
        inside.set(closed, [...(inside.get(closed) || []), number]);
      }
    });
    const hasFolders = new Set();
    for (const [number, id] of shown) {
      const page = pages[number];
      const around = above(page);
      const open = id.startsWith("page:") ? around : around.slice(0, around.indexOf(id.slice(7)));
      let parent;
      for (const folder of open) {
        const name = `folder:${folder}`;
        hasFolders.add(name);
        if (!nodes.has(name)) {
          const label = folder.slice(folder.lastIndexOf("/") + 1);
          nodes.set(name, { data: { id: name, label, parent, size: 20 }, classes: "folder" });
        }
        parent = name;
      }
      if (id.startsWith("page:")) {
        const size = 12 + Math.min(22, 3 * Math.sqrt(page.links));
        nodes.set(id, {
          data: { id, label: page.title, parent, size, number },
          classes: page.level, position: { x: page.x, y: page.y },
        });
      } else if (!nodes.has(id)) {
        const members = inside.get(id.slice(7));
        const mean = (axis) =>
          members.reduce((sum, member) => sum + pages[member][axis], 0) / members.length;
        const label = `${id.slice(7)} (${members.length})`;
        nodes.set(id, {
          data: { id, label, parent, size: 24 + 5 * Math.sqrt(members.length) },
          classes: "folder folded", position: { x: mean("x"), y: mean("y") },
        });
      }
    }
    return [...nodes.values(), ...edges(shown), ...(find("sources").checked ? sources(shown) : [])];
  }

  function edges(shown) {
    const wanted = checked("type");
    const merged = new Map();
    for (const [from, to, type] of links) {
      const source = shown.get(from);
      const target = shown.get(to);
      if (source === undefined || target === undefined || source === target) continue;
      if (!wanted.has(types[type])) continue;
      const id = `${source}>${target}>${type}`;
      const edge = merged.get(id);
      if (edge) edge.data.width = Math.min(6, edge.data.width + 0.4);
      else merged.set(id, { data: { id, source, target, width: 1.4 }, classes: types[type] });
    }
    return merged.values();
  }

  function sources(shown) {
    const users = new Map();
    for (const [number, id] of shown) {
      if (!id.startsWith("page:")) continue;
      for (const { path } of pages[number].sources) {
        users.set(path, [...(users.get(path) || []), number]);
      }
    }
    const found = [];
    let turn = 0;
    for (const [path, numbers] of users) {
      turn += 2.4;
      const mean = (axis) => numbers.reduce((sum, n) => sum + pages[n][axis], 0) / numbers.length;
      const position = { x: mean("x") + 24 * Math.cos(turn), y: mean("y") + 24 * Math.sin(turn) };
      const label = path.slice(path.lastIndexOf("/") + 1);
      const id = `source:${path}`;
      found.push({ data: { id, label, size: 9 }, classes: "source", position });
      for (const number of numbers) {
        found.push({
          data: { id: `${number}>${path}`, source: `page:${number}`, target: id, width: 1 },
          classes: "describes",
        });
      }
    }
    return found;
  }

  const cy = cytoscape({
    container: find("graph"), elements: [], style: style(), layout: { name: "preset" },
    minZoom: 0.05, maxZoom: 4, textureOnViewport: pages.length > 400, hideEdgesOnViewport: false,
    pixelRatio: pages.length > 1000 ? 1 : "auto", boxSelectionEnabled: false,
    autoungrabify: pages.length > 400,
  });

  function draw({ fit = false } = {}) {
    cy.batch(() => {
      cy.elements().remove();
      cy.add(elements());
    });
    if (fit || cy.nodes().length === 0) cy.fit(undefined, 24);
    const count = pages.filter(fits).length;
    find("shown").textContent =
      count === pages.length ? `${count} pages` : `${count} of ${pages.length} pages`;
    for (const item of document.querySelectorAll("[data-item]")) {
      const number = Number(item.dataset.item);
      item.hidden = !fits(pages[number], number);
    }
    if (selected !== null) mark();
  }

  function mark() {
    cy.elements().removeClass("dimmed near").unselect();
    const node = selected === null ? cy.collection() : cy.getElementById(`page:${selected}`);
    if (node.empty()) return;
    const near = node.closedNeighborhood();
    cy.elements().not(near).not(near.ancestors()).not(".folder").addClass("dimmed");
    near.edges().addClass("near");
    node.select();
  }

  function make(tag, content, attributes = {}) {
    const element = document.createElement(tag);
    if (content !== undefined) element.append(content);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  function linkList(heading, ends) {
    if (!ends.length) return [];
    const list = make("ul");
    for (const [number, type] of ends) {
      const item = make("li");
      item.append(
        make("button", pages[number].title, { type: "button", "data-page": number }),
        type === 0 ? "" : ` ${types[type].replaceAll("_", " ")}`,
      );
      list.append(item);
    }
    return [make("h3", heading), list];
  }

  function select(number, { center = false } = {}) {
    selected = number;
    details.hidden = number === null;
    details.replaceChildren();
    if (number === null) {
      mark();
      return;
    }
    const page = pages[number];
    if (center) {
      const closed = above(page).filter((folder) => folded.has(folder));
      for (const folder of closed) folded.delete(folder);
      if (closed.length || !cy.getElementById(`page:${number}`).length) draw();
      const node = cy.getElementById(`page:${number}`);
      if (node.length) cy.animate({ center: { eles: node }, zoom: Math.max(1, cy.zoom()) }, { duration: 200 });
    }
    mark();
    const age = page.age === null || page.age === 0 ? "" : ` for ${page.age} days`;
    details.append(
      make("button", "Close", { type: "button", class: "close" }),
      make("h2", page.title),
      make("p", page.path, { class: "path quiet" }),
      make("p", `${levels[page.level]}${age} · ${page.type}`, { class: `level-line ${page.level}` }),
      make("p", page.text),
    );
    if (showAround && number !== data.center) {
      const button = make("button", "Show the pages around it", { type: "button" });
      button.addEventListener("click", () => showAround(page.path));
      details.append(button);
    }
    if (page.sources.length) {
      const list = make("ul");
      for (const { path, state } of page.sources) {
        const item = make("li");
        item.append(make("span", path, { class: "path" }), ` ${state}`);
        list.append(item);
      }
      details.append(make("h3", "Sources"), list);
    }
    details.append(...linkList("Links to", outgoing[number]), ...linkList("Linked from", incoming[number]));
  }

  cy.on("tap", "node", (event) => {
    const node = event.target;
    if (node.data("number") !== undefined) select(node.data("number"));
  });
  cy.on("tap", (event) => event.target === cy && select(null));
  cy.on("dbltap", "node.folder", (event) => {
    const folder = event.target.id().slice(7);
    if (folded.has(folder)) folded.delete(folder);
    else folded.add(folder);
    draw();
  });
  document.querySelector("main").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.page !== undefined) {
      select(Number(button.dataset.page), { center: true });
      details.scrollIntoView({ block: "nearest" });
    } else if (button.classList.contains("close")) {
      select(null);
    }
  });
  find("tools").addEventListener("submit", (event) => event.preventDefault());
  find("tools").addEventListener("input", (event) => {
    if (event.target.id === "folders") {
      folded.clear();
      if (event.target.checked) for (const folder of topFolders()) folded.add(folder);
    }
    draw({ fit: ["folders", "folder"].includes(event.target.id) });
  });
  find("fit").addEventListener("click", () => cy.fit(undefined, 24));
  find("graph").addEventListener("keydown", (event) => {
    const step = 60;
    const moves = {
      ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step],
    };
    const middle = { x: cy.width() / 2, y: cy.height() / 2 };
    if (event.key in moves) cy.panBy({ x: moves[event.key][0], y: moves[event.key][1] });
    else if (event.key === "+" || event.key === "=") {
      cy.zoom({ level: cy.zoom() * 1.25, renderedPosition: middle });
    } else if (event.key === "-") cy.zoom({ level: cy.zoom() / 1.25, renderedPosition: middle });
    else if (event.key === "Escape") select(null);
    else return;
    event.preventDefault();
  });
  const restyle = () => cy.style(style());
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", restyle);

  find("folders").checked = folded.size > 0;
  draw({ fit: true });
  if (data.center !== null) select(data.center, { center: true });
  document.body.dataset.ready = "yes";
  return {
    restyle,
    destroy() {
      scheme.removeEventListener("change", restyle);
      cy.destroy();
    },
  };
}
