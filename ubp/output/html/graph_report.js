// Draws the graph of a report, in which the wheel scrolls the document.
window.ubpGraph = drawGraph(
  document.querySelector(".graph-view"),
  JSON.parse(document.getElementById("graph-data").textContent),
  { wheelNeedsFocus: true },
);
