drawGraph(JSON.parse(document.getElementById("data").textContent));
