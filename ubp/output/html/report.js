// Filters and sorts what the page already shows: without this script it is a plain page.
// Commands can be copied, and the map of the sources zooms.
(() => {
  "use strict";

  async function copy(button) {
    const label = button.firstChild;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
    } catch {
      // Where the clipboard is not allowed, the command is selected for copying by hand.
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
      if (!document.execCommand("copy")) return;
    }
    label.data = "Copied";
    setTimeout(() => (label.data = "Copy"), 2000);
  }

  function zoom(path) {
    for (const map of document.querySelectorAll(".map-level")) map.hidden = map.dataset.map !== path;
    document.querySelector(`.map-level:not([hidden]) [data-zoom]`)?.focus?.();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
    const box = event.target.closest("[data-zoom]");
    if (box) zoom(box.dataset.zoom);
  });
  document.addEventListener("keydown", (event) => {
    const box = event.key === "Enter" && event.target.closest("svg[data-zoom]");
    if (box) zoom(box.dataset.zoom);
  });
  for (const button of document.querySelectorAll(".copy, .crumbs button")) button.hidden = false;
})();

(() => {
  "use strict";

  const toolbar = document.querySelector(".toolbar");
  if (!toolbar) return;
  const find = (selector) => toolbar.querySelector(selector);
  const search = find("#text");
  const folder = find("#folder");
  const rule = find("#rule");
  const sort = find("#sort");
  const levels = [...toolbar.querySelectorAll(".level input")];
  const matches = find("#matches");
  const items = [...document.querySelectorAll("[data-folder]")];
  const lists = [...document.querySelectorAll("[data-list]")];
  const places = new Map(items.map((item, number) => [item, number]));
  const texts = new Map(items.map((item) => [item, fold(wordsOf(item))]));

  function fold(text) {
    return text.normalize("NFKC").toLowerCase();
  }

  // What a page is about: not the code that changed, and not the names of other pages.
  function wordsOf(item) {
    const parts = item.querySelectorAll(":scope > summary, :scope > ul > li > :is(p, ol)");
    return parts.length ? [...parts].map((part) => part.textContent).join(" ") : item.textContent;
  }

  function fits(item, words, wantedLevels) {
    const { level, rules, folder: place } = item.dataset;
    if (level && !wantedLevels.has(level)) return false;
    if (folder && folder.value && folder.value !== place) return false;
    if (rule && rule.value && !(rules || "").split(" ").includes(rule.value)) return false;
    return words.every((word) => texts.get(item).includes(word));
  }

  function filter() {
    const words = fold(search.value).split(/\s+/u).filter(Boolean);
    const wantedLevels = new Set(levels.filter((box) => box.checked).map((box) => box.value));
    const shown = new Map(lists.map((list) => [list, 0]));
    for (const item of items) {
      item.hidden = !fits(item, words, wantedLevels);
      if (!item.hidden) {
        const list = item.closest("[data-list]");
        shown.set(list, shown.get(list) + 1);
      }
    }
    for (const [list, count] of shown) {
      const none = document.getElementById(list.dataset.list);
      if (none) none.hidden = count > 0;
      list.hidden = count === 0;
    }
    const total = [...shown.values()].reduce((sum, count) => sum + count, 0);
    matches.textContent =
      total === items.length ? `${items.length} entries` : `${total} of ${items.length} entries`;
  }

  function order() {
    const list = document.querySelector("[data-sorted]");
    if (!list || !sort) return;
    const key = sort.value;
    const value = (page) => Number(page.dataset[key] || -1);
    const name = (page) => page.querySelector(".path").textContent;
    const pages = [...list.children];
    pages.sort((a, b) => {
      if (key === "path") return name(a) < name(b) ? -1 : 1;
      return (key !== "order" && value(b) - value(a)) || places.get(a) - places.get(b);
    });
    list.append(...pages);
  }

  function reset() {
    search.value = "";
    for (const select of [folder, rule, sort]) if (select) select.selectedIndex = 0;
    for (const box of levels) box.checked = true;
    order();
    filter();
  }

  // A diff that several pages share is in the document only once.
  function borrow(event) {
    const details = event.target;
    const link = details.open && details.querySelector(":scope > p > a");
    const owner = link && document.getElementById(link.hash.slice(1));
    const diff = owner && owner.querySelector("pre");
    if (diff) link.parentElement.replaceWith(diff.cloneNode(true));
  }

  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) reset();
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  }

  let opened = [];
  function unfold() {
    opened = [...document.querySelectorAll(".page:not([open])")];
    for (const details of opened) details.open = true;
  }
  function refold() {
    for (const details of opened) details.open = false;
  }

  for (const link of document.querySelectorAll("[data-choose]")) {
    link.addEventListener("click", () => {
      folder.value = link.dataset.choose;
      filter();
    });
  }
  search.addEventListener("input", filter);
  for (const control of [folder, rule, ...levels]) if (control) control.addEventListener("change", filter);
  if (sort) sort.addEventListener("change", order);
  find("#reset").addEventListener("click", () => {
    reset();
    search.focus();
  });
  document.addEventListener("toggle", borrow, true);
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/u.test(event.target.tagName);
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    }
  });
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", unfold);
  addEventListener("afterprint", refold);

  toolbar.hidden = false;
  filter();
  reveal();
})();
