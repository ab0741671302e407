"use strict";

// Draws the graph that `data` describes into `root`, whose list of pages remains without a script.
// The picture answers a question: what depends on a page or a source, what does it depend on, or,
// without one, which folders and most linked pages there are. `showAround(path)` asks for the graph
// around a page where the data has only a part; `wheelNeedsFocus` leaves the wheel to the document.
function drawGraph(root, data, { showAround, wheelNeedsFocus = false } = {}) {
  const MAX_PAGES = 150; // more are shown as folders first
  const MAX_FOLDERS = 36;
  const MAX_HUBS = 40;
  const MAX_OPEN = 120; // pages of an opened folder
  const MAX_FOUND = 60;
  const MAX_COLUMN = 30;

  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const details = part("details");
  const field = (name) => part("tools").elements.namedItem(name);
  const checked = (name) =>
    new Set([...root.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value));
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
  const make = (tag, content, attributes = {}) => {
    const element = document.createElement(tag);
    if (content !== undefined) element.append(content);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  const levels = data.levels.map(([name]) => name);
  const levelWords = Object.fromEntries(data.levels);
  const pages = data.titles.map((title, number) => {
    const folder = data.folders[data.folder[number]];
    const path = folder ? `${folder}/${data.names[number]}` : data.names[number];
    return { kind: "page", number, title, path, folder, level: levels[data.level[number]], states: [] };
  });
  const sources = data.sources.map((path, index) => ({
    kind: "source", number: pages.length + index, path, level: "fresh", states: [],
    title: path.slice(path.replace(/\/$/u, "").lastIndexOf("/") + 1),
    folder: path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "",
  }));
  const things = [...pages, ...sources];
  // What a page or source depends on and what depends on it: [number, type of link].
  const above = things.map(() => []);
  const below = things.map(() => []);
  const connect = (from, to, type) => {
    above[from].push([to, type]);
    below[to].push([from, type]);
  };
  data.links.forEach((targets, from) => targets.forEach((to) => connect(from, to, "references")));
  for (const [from, to, type] of data.typed) connect(from, to, data.types[type]);
  for (const [page, source, level, state] of data.uses) {
    connect(page, pages.length + source, "describes");
    pages[page].states.push([pages.length + source, state]);
    const worse = levels.indexOf(levels[level]) < levels.indexOf(sources[source].level);
    if (worse || !levels.includes(sources[source].level)) sources[source].level = levels[level];
  }
  for (const page of pages) page.links = above[page.number].length + below[page.number].length;
  for (const source of sources) source.links = below[source.number].length;
  const words = things.map((thing) => fold(`${thing.title} ${thing.path}`));

  const titled = Map.groupBy(things, (thing) => thing.title);
  for (const thing of things) {
    const place = thing.folder.slice(thing.folder.lastIndexOf("/") + 1);
    thing.label = titled.get(thing.title).length > 1 && place ? `${thing.title} (${place})` : thing.title;
  }
  const isDue = (page) => ["stale", "possibly_stale", "unknown"].includes(page.level);

  let focus = null; // the page or source that the question is about
  let selected = null;
  let hovered = null;
  let opened = new Set(); // folders that show their pages
  let isLong = false; // whether columns show all that they have
  let shown = new Map(); // key → item

  const styles = new Map();
  function color(name) {
    if (!styles.has(name)) {
      const variable = { possibly_stale: "possibly", label: "quiet", describes: "quiet" }[name] || name;
      const value = getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`);
      styles.set(name, value.trim());
    }
    return styles.get(name);
  }

  const picture = createPicture(part("picture"), {
    color, wheelNeedsFocus,
    onSelect: (item) => {
      if (item?.kind === "more") {
        isLong = true;
        show();
      } else select(item && (item.thing || item));
    },
    onOpen: (item) => (item.thing ? ask(item.thing, "dependents") : item.shares && openFolder(item)),
    onHover: (item) => {
      hovered = item;
      emphasize();
    },
  });

  function fits(page, filters) {
    const age = data.ages[page.number]?.[0] ?? -1;
    return (
      filters.levels.has(page.level) && (!filters.age || age >= filters.age) &&
      (!filters.folder || page.folder === filters.folder || page.folder.startsWith(`${filters.folder}/`))
    );
  }

  function readFilters() {
    return {
      levels: checked("level"), types: new Set([...checked("type"), "describes"]),
      age: Number(field("age").value), folder: field("folder").value,
      words: fold(field("search").value).trim().split(/\s+/u).filter(Boolean),
    };
  }

  const matches = (thing, filters) => filters.words.every((word) => words[thing.number].includes(word));

  function itemOf(thing, column = 0) {
    const radius = thing.kind === "source" ? 6 : 4.5 + Math.min(9, Math.sqrt(thing.links));
    return {
      thing, key: thing.number, kind: thing.kind, label: thing.label, level: thing.level, radius,
      folder: thing.folder, links: thing.links, weight: thing.links, column,
    };
  }

  // Columns: on the left what the focus depends on, on the right what depends on it.
  function columns(question, filters) {
    const found = new Map([[focus, { ...itemOf(focus), isFocus: true, weight: Infinity }]]);
    const extra = [];
    const edges = new Map();
    const visible = (thing) => thing.kind === "source" || fits(thing, filters);
    const side = (sign, lists, steps, kinds) => {
      let frontier = [focus];
      for (let step = 1; step <= steps; step += 1) {
        const column = sign * step;
        const next = new Map();
        for (const thing of frontier) {
          for (const [number, type] of lists[thing.number]) {
            const other = things[number];
            if (!kinds.has(other.kind) || !visible(other) || !filters.types.has(type)) continue;
            if (!found.has(other)) next.set(other, (next.get(other) || 0) + 1);
          }
        }
        const ranked = [...next.keys()].sort((a, b) => next.get(b) - next.get(a) || b.links - a.links);
        const kept = isLong ? ranked : ranked.slice(0, MAX_COLUMN);
        for (const thing of kept) found.set(thing, itemOf(thing, column));
        if (kept.length < ranked.length) {
          extra.push({
            kind: "more", key: `more:${column}`, label: `and ${ranked.length - kept.length} more`,
            level: "untracked", radius: 5, folder: "", links: 0, weight: 0, column,
          });
        }
        frontier = kept;
      }
    };
    const all = new Set(["page", "source"]);
    const steps = Number(field("steps").value);
    if (question !== "dependencies") side(1, below, steps, all);
    if (question === "dependents") side(-1, above, 1, new Set(["source"]));
    else side(-1, above, steps, all);
    for (const [thing, item] of found) {
      for (const [number, type] of above[thing.number]) {
        const other = found.get(things[number]);
        if (other && filters.types.has(type) && other.column !== item.column) {
          const key = `${item.key}>${other.key}>${type}`;
          edges.set(key, { from: item, to: other, kind: type, width: 1.5, opacity: 0.55 });
        }
      }
    }
    return { items: [...found.values(), ...extra], edges: [...edges.values()], isColumns: true };
  }

  // All pages, or folders and the most linked pages.
  function overview(question, filters) {
    const visible = pages.filter((page) => fits(page, filters));
    const found = filters.words.length ? things.filter((thing) => matches(thing, filters)) : [];
    found.sort((a, b) => b.links - a.links);
    const items = new Map();
    const add = (thing) => items.set(thing.number, itemOf(thing));
    const placed = new Map(); // number of a page → its item, or the folder's
    if (question === "all" || visible.length <= MAX_PAGES) visible.forEach(add);
    else {
      const ranked = [...visible].sort((a, b) => b.links - a.links);
      const isFlat = new Set(visible.map((page) => page.folder)).size < 4;
      const hubs = ranked.filter((page) => below[page.number].length);
      hubs.slice(0, isFlat ? 2 * MAX_HUBS : MAX_HUBS).forEach(add);
      ranked.filter(isDue).slice(0, MAX_HUBS).forEach(add);
      const openPages = ranked.filter((page) => opened.has(page.folder));
      openPages.slice(0, MAX_OPEN).forEach(add);
    }
    found.filter((thing) => thing.kind === "source" || fits(thing, filters)).slice(0, MAX_FOUND).forEach(add);
    for (const [number, item] of items) placed.set(number, item);
    for (const group of groups(visible.filter((page) => !items.has(page.number)))) {
      const item = group.pages.length > 1 ? folderItem(group) : itemOf(group.pages[0]);
      items.set(item.key, item);
      for (const page of group.pages) placed.set(page.number, item);
    }
    return { items: [...items.values()], edges: merged(placed, filters), isColumns: false };
  }

  // Folders with these pages below them: the largest are divided until there are enough.
  function groups(rest) {
    let found = rest.length ? [{ folder: "", pages: rest, isOwn: false }] : [];
    const whole = new Set(); // folders with too many parts
    while (found.length < MAX_FOLDERS) {
      const divisible = found.filter(
        (group) => !group.isOwn && !whole.has(group.folder)
          && group.pages.some((page) => page.folder !== group.folder),
      );
      const largest = divisible.sort((a, b) => b.pages.length - a.pages.length)[0];
      if (!largest || (found.length > 8 && largest.pages.length < rest.length / 40)) break;
      const depth = largest.folder ? largest.folder.split("/").length : 0;
      const parts = Map.groupBy(
        largest.pages, (page) => page.folder.split("/").slice(0, depth + 1).join("/"),
      );
      if (parts.size > 1 && found.length + parts.size > MAX_FOLDERS + 1) whole.add(largest.folder);
      else {
        found = found.filter((group) => group !== largest);
        for (const [folder, inside] of parts) {
          found.push({ folder, pages: inside, isOwn: folder === largest.folder });
        }
      }
    }
    return found;
  }

  function folderItem({ folder, pages: inside }) {
    const shares = levels
      .map((level) => [level, inside.filter((page) => page.level === level).length / inside.length])
      .filter(([, share]) => share);
    const name = folder.slice(folder.lastIndexOf("/") + 1);
    const label = `${name || "top folder"} (${inside.length.toLocaleString("en")})`;
    return {
      kind: "folder", key: `folder:${folder}`, label, path: folder, pages: inside, shares, level: shares[0][0],
      radius: 9 + Math.min(26, 1.3 * Math.sqrt(inside.length)), folder, links: 0, weight: 10_000 + inside.length,
    };
  }

  function merged(placed, filters) {
    const edges = new Map();
    for (const [number, item] of placed) {
      for (const [target, type] of above[number]) {
        const other = placed.get(target);
        if (!other || other === item || !filters.types.has(type)) continue;
        // Nearly everything links to a folder that has most of the pages.
        if ([item, other].some((end) => end.shares && end.pages.length > pages.length / 2)) continue;
        const key = `${item.key}>${other.key}>${type}`;
        const edge = edges.get(key);
        if (edge) edge.count += 1;
        else edges.set(key, { from: item, to: other, kind: type, count: 1 });
      }
    }
    const all = [...edges.values()];
    // Of many edges the thick ones say more.
    const opacity = Math.max(0.06, Math.min(0.45, 60 / Math.sqrt(all.length + 1) / 10));
    for (const edge of all) {
      edge.width = Math.min(7, 1 + Math.log2(edge.count) * 0.8);
      edge.opacity = Math.min(0.6, opacity * (1 + Math.log2(edge.count) / 3));
    }
    return all;
  }

  function show() {
    const question = field("question").value;
    const filters = readFilters();
    const view = focus ? columns(question, filters) : overview(question, filters);
    const { width, height } = picture.size();
    const column = view.isColumns ? placeColumns(view.items, view.edges, width) : 0;
    if (!column) settle(view.items, view.edges, width / (height || 1));
    if (view.items.length > 400) for (const item of view.items) if (item.thing) item.radius *= 0.6;
    shown = new Map(view.items.map((item) => [item.key, item]));
    for (const item of shown.values()) item.isSelected = item.thing ? item.thing === selected : false;
    picture.show(view.items, view.edges, column);
    neighbors = new Map(view.items.map((item) => [item, []]));
    for (const { from, to } of view.edges) {
      neighbors.get(from).push(to);
      neighbors.get(to).push(from);
    }
    describe(question, view);
    list(filters);
    emphasize();
    if (filters.words.length && !focus) zoomToFound(filters);
  }
  let neighbors = new Map();

  function found(filters) {
    return [...shown.values()].filter((item) => item.thing && matches(item.thing, filters));
  }

  function zoomToFound(filters) {
    const items = found(filters);
    if (items.length) picture.fit(items);
  }

  // What is pointed at, else selected, else found is emphasised with its neighbours.
  function emphasize() {
    const filters = readFilters();
    const chosen = selected && selected !== focus ? shown.get(selected.number) : null;
    const center = hovered || chosen || null;
    if (center && neighbors.has(center)) picture.light([center, ...neighbors.get(center)], center);
    else if (filters.words.length && !focus) picture.light(found(filters));
    else picture.light(null);
  }

  function describe(question, { items }) {
    const number = items.filter((item) => item.kind === "page").length;
    const folders = items.filter((item) => item.shares).length;
    const text = part("question");
    const filters = readFilters();
    if (focus) {
      const before = { dependents: "What depends on ", dependencies: "What ", both: "Around " }[question];
      const after = question === "dependencies" ? " depends on" : "";
      const others = number - (focus.kind === "page" ? 1 : 0);
      const files = items.filter((item) => item.kind === "source").length - (focus.kind === "source" ? 1 : 0);
      const counts = [count(others, "page"), ...(files ? [count(files, "source")] : [])].join(", ");
      text.replaceChildren(before, make("b", focus.title), `${after}: ${counts}.`);
    } else if (filters.words.length) {
      const hits = things.filter((thing) => matches(thing, filters) && (thing.kind === "source" || fits(thing, filters)));
      text.textContent = hits.length ? `${count(hits.length, "match").replace("matchs", "matches")}.` : "No matches.";
    } else {
      const parts = [...(folders ? [count(folders, "folder")] : []), count(number, "page")];
      const which = folders ? ", the most linked and the stale ones" : "";
      const visible = pages.filter((page) => fits(page, filters)).length;
      const total = visible < pages.length ? ` ${visible.toLocaleString("en")} of ${count(pages.length, "page")} fit the filter.` : "";
      text.textContent = `${parts.join(" and ")}${which}.${total}`;
    }
  }

  function list(filters) {
    const isAll = !filters.words.length && pages.every((page) => fits(page, filters));
    if (isAll && !list.hasHidden) return;
    list.hasHidden = !isAll;
    for (const item of root.querySelectorAll("[data-item]")) {
      const page = pages[Number(item.dataset.item)];
      item.hidden = !(fits(page, filters) && matches(page, filters));
    }
  }

  // Put a question about a page or a source.
  function ask(thing, question) {
    if (showAround && data.is_part && thing.kind === "page" && thing.number !== data.center) {
      showAround(thing.path);
    } else answer(thing, question);
  }

  // Answer it from the data that is here.
  function answer(thing, question) {
    focus = thing;
    isLong = false;
    field("search").value = "";
    field("question").value = question;
    hovered = null;
    select(thing); // first, because the details take a part of the picture's width
    show();
  }

  function openFolder(item) {
    for (const page of item.pages) if (page.folder === item.path || item.pages.length <= MAX_OPEN) opened.add(page.folder);
    if (![...item.pages].some((page) => opened.has(page.folder))) opened.add(item.pages[0].folder);
    select(null);
    show();
    const inside = [...shown.values()].filter((other) => other.thing?.folder.startsWith(item.path));
    picture.fit(inside);
  }

  function linkList(heading, ends) {
    if (!ends.length) return [];
    const names = make("ul");
    for (const [number, type] of ends.slice(0, 100)) {
      const item = make("li");
      const button = make("button", things[number].title, { type: "button", "data-thing": number });
      item.append(button, ["references", "describes"].includes(type) ? "" : ` ${type.replaceAll("_", " ")}`);
      names.append(item);
    }
    const rest = ends.length > 100 ? [make("p", `and ${ends.length - 100} more`, { class: "quiet" })] : [];
    return [make("h3", heading), names, ...rest];
  }

  function questionButton(label, thing, question) {
    const button = make("button", label, { type: "button" });
    button.addEventListener("click", () => ask(thing, question));
    return button;
  }

  function select(thing) {
    selected = thing?.number === undefined ? null : thing;
    for (const item of shown.values()) item.isSelected = Boolean(item.thing) && item.thing === selected;
    details.hidden = !thing;
    details.replaceChildren();
    if (thing) {
      details.append(make("button", "Close", { type: "button", class: "close" }));
      details.append(...(thing.shares ? aboutFolder(thing) : aboutThing(thing)));
    }
    emphasize();
  }

  function aboutFolder(item) {
    const button = make("button", "Show its pages", { type: "button" });
    button.addEventListener("click", () => openFolder(item));
    const counts = item.shares.map(([level, share]) => `${Math.round(share * item.pages.length)} ${levelWords[level]}`);
    const ranked = [...item.pages].sort((a, b) => b.links - a.links).slice(0, 20);
    return [
      make("h2", item.path || "Top folder"), make("p", `${count(item.pages.length, "page")}: ${counts.join(", ")}`),
      button, ...linkList("Most linked", ranked.map((page) => [page.number, "references"])),
    ];
  }

  function aboutThing(thing) {
    const number = thing.number;
    const parts = [make("h2", thing.title), make("p", thing.path, { class: "path quiet" })];
    if (thing.kind === "page") {
      const age = data.ages[number] ? ` for ${data.ages[number][1]}` : "";
      const kind = data.kinds[data.kind[number]];
      parts.push(make("p", `${levelWords[thing.level]}${age} · ${kind}`, { class: `level-line ${thing.level}` }));
      if (data.texts[number]) parts.push(make("p", data.texts[number]));
    } else parts.push(make("p", `source of ${count(below[number].length, "page")}`));
    parts.push(questionButton("What depends on it", thing, "dependents"));
    if (thing.kind === "page") parts.push(questionButton("What it depends on", thing, "dependencies"));
    if (thing.states.length) {
      const states = make("ul");
      for (const [source, state] of thing.states) {
        const item = make("li");
        item.append(make("button", things[source].path, { type: "button", class: "path", "data-thing": source }), ` ${state}`);
        states.append(item);
      }
      parts.push(make("h3", "Sources"), states);
    }
    const isLink = ([, type]) => type !== "describes";
    parts.push(...linkList("Links to", above[number].filter(isLink)));
    parts.push(...linkList(thing.kind === "page" ? "Linked from" : "Described by", below[number]));
    return parts;
  }

  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.thing !== undefined) {
      const thing = things[Number(button.dataset.thing)];
      if (shown.has(thing.number)) {
        select(thing);
        if (!focus) picture.fit([shown.get(thing.number), ...neighbors.get(shown.get(thing.number))]);
      } else answer(thing, focus ? field("question").value : "both");
      part("picture").scrollIntoView({ block: "nearest" });
    } else if (button.classList.contains("close")) select(null);
  });
  part("tools").addEventListener("submit", (event) => event.preventDefault());
  root.addEventListener("input", (event) => {
    const name = event.target.name;
    if (!name) return;
    if (name === "question") {
      if (["overview", "all"].includes(event.target.value)) focus = null;
      else focus ||= selected || [...pages].sort((a, b) => below[b.number].length - below[a.number].length)[0];
      isLong = false;
    } else if (name === "search") {
      focus = null;
      select(null);
      if (!["overview", "all"].includes(field("question").value)) field("question").value = "overview";
    }
    if (name === "folder") opened = new Set();
    show();
  });
  part("fit").addEventListener("click", () => picture.fit());
  const restyle = () => {
    styles.clear();
    picture.redraw();
  };
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", restyle);

  if (data.center !== null) answer(things[data.center], "dependents");
  else show();
  root.dataset.ready = "yes";
  return {
    restyle,
    measure: picture.measure,
    destroy() {
      scheme.removeEventListener("change", restyle);
      picture.destroy();
    },
  };
}
