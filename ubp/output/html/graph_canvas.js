"use strict";

// A picture of items and the edges between them, which can be moved and zoomed. Items and letters have
// sizes in pixels of the screen, whatever the zoom. An item has x, y, radius, kind, level, label and
// `weight`, by which labels are chosen where there is no room for all; an edge has from, to and kind.

const MAX_LABELS = 90;
const MAX_ZOOM = 4;
const LABEL = 12.5; // pixels
const REACH = 6; // pixels around an item in which the pointer means it

function createPicture(container, { color, wheelNeedsFocus, onSelect, onOpen, onHover }) {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  container.replaceChildren(canvas);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let items = [];
  let edges = [];
  let lit = null; // the items that are emphasised, or null
  let column = 0; // the distance of columns, in which labels are to the right of their items; else 0
  let zoom = 1;
  let left = 0; // of the screen, in pixels: x * zoom + left
  let top = 0;
  let width = 0;
  let height = 0;
  let labels = []; // the boxes of the labels that are shown
  let frame = 0;

  const screenX = (item) => item.x * zoom + left;
  const screenY = (item) => item.y * zoom + top;

  function resize() {
    const ratio = devicePixelRatio || 1;
    width = container.clientWidth;
    height = container.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  function redraw() {
    if (!frame) frame = requestAnimationFrame(() => draw());
  }

  function draw() {
    frame = 0;
    context.clearRect(0, 0, width, height);
    context.font = `${LABEL}px ${getComputedStyle(container).fontFamily}`;
    if (column) items.forEach(fitLabel);
    for (const edge of edges) if (!isLit(edge)) line(edge, lit ? 0.07 : edge.opacity);
    for (const edge of edges) if (isLit(edge)) line(edge, 0.95);
    const order = [...items].sort((a, b) => a.weight - b.weight);
    for (const item of order) mark(item);
    context.globalAlpha = 1;
    writeLabels(order.reverse());
  }

  const isLit = (edge) => lit !== null && edge.from !== edge.to && lit.center !== null
    && (edge.from === lit.center || edge.to === lit.center);

  function line(edge, opacity) {
    let [x1, y1, x2, y2] = [
      screenX(edge.from), screenY(edge.from), screenX(edge.to), screenY(edge.to),
    ];
    if (column && x1 > x2) [x1, x2] = [x1 - edge.from.radius - 2, x2 + edge.to.reach];
    else if (column) [x1, x2] = [x1 + edge.from.reach, x2 - edge.to.radius - 2];
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > width) return;
    if (Math.max(y1, y2) < 0 || Math.min(y1, y2) > height) return;
    context.globalAlpha = opacity;
    context.strokeStyle = color(edge.kind);
    context.lineWidth = edge.width;
    context.setLineDash(edge.kind === "conflicts_with" ? [6, 4] : edge.kind === "describes" ? [2, 3] : []);
    context.beginPath();
    context.moveTo(x1, y1);
    if (column) {
      const middle = (x1 + x2) / 2;
      context.bezierCurveTo(middle, y1, middle, y2, x2, y2);
    } else context.lineTo(x2, y2);
    context.stroke();
    if (column) arrow(x2 + Math.sign(x1 - x2), y2, x2, y2, 0, color(edge.kind));
    else if (isLit(edge)) arrow(x1, y1, x2, y2, edge.to.radius + 2, color(edge.kind));
  }

  // In columns a label has the room up to the next one, and edges begin behind it.
  function fitLabel(item) {
    item.text = shorten(item.label, column * zoom - 2 * item.radius - 40);
    item.reach = item.radius + 12 + context.measureText(item.text).width;
  }

  function arrow(x1, y1, x2, y2, distance, fill) {
    const angle = Math.atan2(y2 - y1, x2 - x1);
    const x = x2 - distance * Math.cos(angle);
    const y = y2 - distance * Math.sin(angle);
    context.setLineDash([]);
    context.fillStyle = fill;
    context.beginPath();
    context.moveTo(x, y);
    for (const side of [-0.4, 0.4]) {
      context.lineTo(x - 8 * Math.cos(angle + side), y - 8 * Math.sin(angle + side));
    }
    context.fill();
  }

  function mark(item) {
    const [x, y, radius] = [screenX(item), screenY(item), item.radius];
    if (x < -radius || y < -radius || x > width + radius || y > height + radius) return;
    context.globalAlpha = lit === null || lit.has(item) ? 1 : 0.15;
    context.setLineDash([]);
    if (item.shares) ring(item, x, y);
    else {
      context.beginPath();
      shape(item.kind === "page" ? item.level : item.kind, x, y, radius);
      const isOutline = item.level === "untracked" && item.kind === "page";
      context.fillStyle = isOutline || item.kind === "more" ? color("card") : color(item.level);
      context.fill();
      context.lineWidth = isOutline ? 2 : 1;
      context.strokeStyle = isOutline || item.kind === "more" ? color("untracked") : color("card");
      context.stroke();
    }
    if (item.isSelected || item.isFocus) {
      context.beginPath();
      context.arc(x, y, radius + 4, 0, 2 * Math.PI);
      context.lineWidth = 2.5;
      context.strokeStyle = color("accent");
      context.stroke();
    }
  }

  // A folder: a disc, and around it the shares of its pages by level.
  function ring(item, x, y) {
    context.beginPath();
    context.arc(x, y, item.radius, 0, 2 * Math.PI);
    context.fillStyle = color("sunken");
    context.fill();
    let angle = -Math.PI / 2;
    context.lineWidth = Math.max(3, item.radius / 4);
    for (const [level, share] of item.shares) {
      context.beginPath();
      context.arc(x, y, item.radius - context.lineWidth / 2, angle, angle + share * 2 * Math.PI);
      context.strokeStyle = color(level);
      context.stroke();
      angle += share * 2 * Math.PI;
    }
  }

  function shape(name, x, y, radius) {
    const corners = {
      stale: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
      possibly_stale: [[0, -1.2], [1.15, 0.9], [-1.15, 0.9]],
      unknown: [[-0.95, -0.95], [0.95, -0.95], [0.95, 0.95], [-0.95, 0.95]],
      source: [[-0.8, -1], [0.3, -1], [0.9, -0.4], [0.9, 1], [-0.8, 1]],
    }[name];
    if (!corners) context.arc(x, y, radius, 0, 2 * Math.PI);
    else {
      for (const [right, down] of corners) context.lineTo(x + right * radius, y + down * radius);
      context.closePath();
    }
  }

  function writeLabels(order) {
    context.textBaseline = "middle";
    context.lineJoin = "round";
    labels = [];
    const first = lit ? order.filter((item) => lit.has(item)) : order;
    const marks = items.length <= 250 ? items.map(boxOfMark) : items.filter((item) => item.shares).map(boxOfMark);
    for (const item of first) {
      if (labels.length >= MAX_LABELS) break;
      const [x, y] = [screenX(item), screenY(item)];
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const text = column ? item.text : shorten(item.label, 190);
      const half = context.measureText(text).width / 2;
      // Where there is no free place, the name of a larger mark covers smaller ones.
      const places = placesAround(x, y, item.radius, half);
      const box = places.find((place) => isFree(place, item, marks))
        ?? places.find((place) => isFree(place, item, marks, item.radius));
      if (box) labels.push({ ...box, text, item });
    }
    for (const label of labels) {
      context.globalAlpha = 1;
      context.strokeStyle = color("card");
      context.lineWidth = 3.5;
      context.strokeText(label.text, label.x1 + 2, (label.y1 + label.y2) / 2);
      context.fillStyle = color(label.item.shares || label.item.isFocus ? "text" : "label");
      context.fillText(label.text, label.x1 + 2, (label.y1 + label.y2) / 2);
    }
  }

  function placesAround(x, y, radius, half) {
    const rise = LABEL / 2 + 2;
    const box = (centerX, centerY) => ({
      x1: centerX - half - 2, x2: centerX + half + 2, y1: centerY - rise, y2: centerY + rise,
    });
    const right = box(x + radius + half + 5, y);
    if (column) return [right];
    return [box(x, y + radius + rise + 1), right, box(x, y - radius - rise - 1), box(x - radius - half - 5, y)];
  }

  const boxOfMark = (item) => ({
    item, x1: screenX(item) - item.radius, x2: screenX(item) + item.radius,
    y1: screenY(item) - item.radius, y2: screenY(item) + item.radius,
  });
  const overlaps = (a, b) => a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;

  function isFree(box, item, marks, minRadius = 0) {
    if (box.y1 < 0 || box.y2 > height || box.x1 < 0 || (box.x2 > width && !column)) return false;
    if (labels.some((other) => overlaps(box, other))) return false;
    return column > 0 || !marks.some((other) => other.item !== item
      && other.item.radius >= minRadius && overlaps(box, other));
  }

  function shorten(text, room) {
    if (context.measureText(text).width <= room) return text;
    const letters = [...text];
    let [short, long] = [0, letters.length];
    while (short < long) {
      const middle = (short + long + 1) >> 1;
      if (context.measureText(`${letters.slice(0, middle).join("")}…`).width <= room) short = middle;
      else long = middle - 1;
    }
    return `${letters.slice(0, short).join("").trimEnd()}…`;
  }

  function itemAt(x, y) {
    let best = null;
    let least = Infinity;
    for (const item of items) {
      const distance = Math.hypot(screenX(item) - x, screenY(item) - y) - item.radius;
      if (distance <= REACH && distance < least) [best, least] = [item, distance];
    }
    return best || labels.find((box) => x > box.x1 && x < box.x2 && y > box.y1 && y < box.y2)?.item || null;
  }

  function moveTo(goal) {
    const start = { zoom, left, top };
    const began = performance.now();
    const step = (now) => {
      const part = calm.matches ? 1 : Math.min(1, Math.max(0, (now - began) / 220));
      const eased = 1 - (1 - part) ** 3;
      [zoom, left, top] = ["zoom", "left", "top"].map((key) => start[key] + (goal[key] - start[key]) * eased);
      if (part < 1) requestAnimationFrame(step);
      draw();
    };
    if (calm.matches) step(began);
    else requestAnimationFrame(step);
  }

  // The zoom at which these items fill the picture, with room for their labels.
  function fitting(these) {
    if (!these.length) return { zoom: 1, left: width / 2, top: height / 2 };
    const edge = { x: Math.min(70, width / 6), y: 30 };
    const xs = these.map((item) => item.x);
    const ys = these.map((item) => item.y);
    const [x1, x2] = [Math.min(...xs), Math.max(...xs) + (column ? column * 0.75 : 0)];
    const [y1, y2] = [Math.min(...ys), Math.max(...ys)];
    const exact = Math.min(
      (width - (column ? 1.4 : 2) * edge.x) / (x2 - x1 || 1), (height - 2 * edge.y) / (y2 - y1 || 1),
    );
    const level = Math.min(column ? 1 : 1.6, Math.max(column ? 0.62 : 0.02, exact));
    return { zoom: level, left: width / 2 - ((x1 + x2) / 2) * level, top: height / 2 - ((y1 + y2) / 2) * level };
  }

  function zoomBy(factor, x = width / 2, y = height / 2) {
    const next = Math.min(MAX_ZOOM, Math.max(0.02, zoom * factor));
    left = x - ((x - left) * next) / zoom;
    top = y - ((y - top) * next) / zoom;
    zoom = next;
    redraw();
  }

  const pointers = new Map();
  let moved = 0;
  let last = { x: 0, y: 0, time: -Infinity, item: null }; // the last click
  let hovered = null;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, place(event));
    canvas.setPointerCapture(event.pointerId);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      const item = itemAt(now.x, now.y);
      if (item !== hovered) {
        hovered = item;
        canvas.style.cursor = item ? "pointer" : "grab";
        onHover(item);
      }
      return;
    }
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const factor = Math.hypot(now.x - other.x, now.y - other.y) / (Math.hypot(before.x - other.x, before.y - other.y) || 1);
      zoomBy(factor, other.x, other.y);
    } else {
      left += now.x - before.x;
      top += now.y - before.y;
      redraw();
    }
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    pointers.set(event.pointerId, now);
  });
  const release = (event) => {
    if (!pointers.delete(event.pointerId) || event.type !== "pointerup" || moved > 5) return;
    const at = place(event);
    const isSecond = event.timeStamp - last.time < 500 && Math.hypot(at.x - last.x, at.y - last.y) < 5;
    last = { ...at, time: event.timeStamp, item: isSecond ? last.item : itemAt(at.x, at.y) };
    if (!isSecond) onSelect(last.item);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    if (hovered) onHover((hovered = null));
  });
  canvas.addEventListener("dblclick", () => {
    // The first click may have opened the details, which moves the items.
    if (last.item) onOpen(last.item);
  });
  canvas.addEventListener("wheel", (event) => {
    if (wheelNeedsFocus && !event.ctrlKey && document.activeElement !== container) return;
    event.preventDefault();
    const { x, y } = place(event);
    zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), x, y);
  }, { passive: false });
  container.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.key in moves) {
      left += moves[event.key][0];
      top += moves[event.key][1];
      redraw();
    } else if (event.key === "+" || event.key === "=") zoomBy(1.25);
    else if (event.key === "-") zoomBy(1 / 1.25);
    else if (event.key === "0") moveTo(fitting(items));
    else if (event.key === "Escape") onSelect(null);
    else return;
    event.preventDefault();
  });
  const observer = new ResizeObserver(() => {
    const [oldWidth, oldHeight] = [width, height];
    if (container.clientWidth === width && container.clientHeight === height) return;
    resize();
    left += (width - oldWidth) / 2;
    top += (height - oldHeight) / 2;
    draw();
  });
  resize();
  observer.observe(container);

  return {
    size: () => ({ width: container.clientWidth, height: container.clientHeight }),
    // Show other items and edges, in columns of this distance or, with 0, freely placed.
    show(newItems, newEdges, newColumn) {
      resize();
      [items, edges, column, lit, hovered] = [newItems, newEdges, newColumn, null, null];
      ({ zoom, left, top } = fitting(items));
      draw();
    },
    // Emphasise these items, and the edges of `center`; null: none.
    light(these, center = null) {
      lit = these && Object.assign(new Set(these), { center });
      redraw();
    },
    fit(these = items) {
      moveTo(fitting(these));
    },
    redraw,
    // What is shown, for tests: labels in pixels, and where an item is.
    measure: () => ({
      zoom,
      labels: labels.map(({ x1, x2, y1, y2, text }) => ({ x1, x2, y1, y2, text })),
      items: items.map((item) => ({
        label: item.label, kind: item.kind, x: screenX(item), y: screenY(item), radius: item.radius,
        isLit: lit === null || lit.has(item),
      })),
      edges: edges.length,
    }),
    destroy() {
      observer.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}
