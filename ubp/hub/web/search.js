// The hub's search in a browser. What it answers is text of repositories: it becomes text nodes
// only, and a link only where its address is https.
"use strict";

const element = (id) => document.getElementById(id);
const LEVELS = {
  fresh: "fresh",
  possibly_stale: "possibly stale",
  stale: "stale",
  unknown: "freshness unknown",
};
let latest = 0;

async function pack(value) {
  const stream = new Blob([JSON.stringify(value)]).stream();
  return new Response(stream.pipeThrough(new CompressionStream("deflate"))).blob();
}

async function unpack(response) {
  const stream = response.body.pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

async function ask(question, token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const response = await fetch("v1/ask/search", {
    method: "POST",
    headers,
    body: await pack(question),
    redirect: "error",
  });
  if (response.ok) return unpack(response);
  const refused = await response.json().catch(() => null);
  const sentences = refused && refused.error;
  const error = new Error(
    sentences
      ? [sentences.message, sentences.cause, sentences.hint].filter(Boolean).join(" ")
      : `The hub answered ${response.status}.`,
  );
  error.status = response.status;
  throw error;
}

function make(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

function show(found) {
  const item = document.createElement("li");
  const heading = document.createElement("h2");
  const title = [...new Set([found.title, ...(found.heading_path || [])])].join(" › ");
  if (found.link.startsWith("https://")) {
    const link = make("a", title);
    link.href = found.link;
    link.rel = "noreferrer";
    heading.append(link);
  } else {
    heading.textContent = title;
  }
  item.append(heading);
  const place = make("p", `${found.repository}: ${found.filepath}, line ${found.line} `, "place");
  const level = LEVELS[found.staleness];
  if (level) {
    place.append(make("span", level, found.staleness === "fresh" ? "badge fresh" : "badge review"));
  }
  item.append(place);
  if (found.passage) item.append(make("p", found.passage));
  const owners = (found.owners || []).join(" ");
  item.append(make("p", [found.reason, owners && `Owner: ${owners}`].filter(Boolean).join(" "), "reason"));
  return item;
}

function tell(answer) {
  const shown = answer.results.length;
  const pages = answer.total === 1 ? "page" : "pages";
  const total = `${answer.is_total_exact ? "" : "at least "}${answer.total} ${pages}`;
  const weak = answer.is_weak && shown ? " Probably none of them answers the question." : "";
  return shown ? `${shown} of ${total}.${weak}` : "No page was found.";
}

async function search() {
  const query = element("query").value.trim();
  if (!query) return;
  const number = ++latest;
  const repository = element("repository").value.trim();
  const token = element("token").value.trim();
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", `?${new URLSearchParams(repository ? { q: query, repository } : { q: query })}`);
  element("status").textContent = "Searching…";
  try {
    const answer = await ask(repository ? { query, repository } : { query }, token);
    if (number !== latest) return;
    element("results").replaceChildren(...answer.results.map(show));
    element("status").textContent = tell(answer);
  } catch (error) {
    if (number !== latest) return;
    element("results").replaceChildren();
    element("status").textContent = error.message;
    if (error.status === 401) {
      element("more").open = true;
      element("token").focus();
    }
  }
}

element("form").addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
const asked = new URLSearchParams(location.search);
element("query").value = asked.get("q") || "";
element("repository").value = asked.get("repository") || "";
element("token").value = sessionStorage.getItem("token") || "";
if (element("repository").value) element("more").open = true;
search();
