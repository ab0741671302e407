// The page's graph, and for tests what is shown of it.
window.ubpGraph = drawGraph(
  document.querySelector(".graph-view"), JSON.parse(document.getElementById("data").textContent),
);
