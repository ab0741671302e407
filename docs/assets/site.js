// What the theme leaves out: names of the copy buttons' landmarks, and wide tables that keys can scroll.
const complete = () => {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav, number) => {
    nav.setAttribute("aria-label", `Code ${document.querySelectorAll(".md-code__nav[aria-label]").length + number + 1}`);
  });
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((table) => table.setAttribute("tabindex", "0"));
};
new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });
complete();
