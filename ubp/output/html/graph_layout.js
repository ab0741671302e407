"use strict";

// Positions of the items of a picture, the same each time for the same items: nothing is random.

// In the picture's own units, which are pixels at zoom 1.
const ROW = 27;
const SPACING = 90;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5)); // seeds of a sunflower (H. Vogel, 1979)
// Up to so many items each repels all others, beyond only those nearby.
const EXACT = 400;
// Pairs of items that are compared: 30 million take about half a second.
const PAIRS = 30_000_000;

// Places each item in the column that it names, near to what it is linked with in the column before.
// Returns the distance of the columns, with which they are about as wide as the picture.
function placeColumns(items, edges, width) {
  const columns = new Map();
  for (const item of items) columns.set(item.column, [...(columns.get(item.column) || []), item]);
  const linked = new Map(items.map((item) => [item, []]));
  for (const { from, to } of edges) {
    linked.get(from).push(to);
    linked.get(to).push(from);
  }
  const distance = Math.min(420, Math.max(230, width / (columns.size + 0.2)));
  const numbers = [...columns.keys()].sort((a, b) => Math.abs(a) - Math.abs(b) || a - b);
  for (const number of numbers) {
    const column = columns.get(number);
    const inner = number - Math.sign(number);
    for (const item of column) {
      const near = linked.get(item).filter((other) => other.column === inner && number !== 0);
      item.rank = near.length ? near.reduce((sum, other) => sum + other.y, 0) / near.length : 0;
    }
    column.sort(
      (a, b) => (a.kind === "more") - (b.kind === "more") || a.rank - b.rank || b.links - a.links,
    );
    column.forEach((item, index) => {
      item.x = number * distance;
      item.y = (index - (column.length - 1) / 2) * ROW;
    });
  }
  return distance;
}

// Places items by forces (Fruchterman and Reingold, 1991): linked ones attract each other, all repel
// each other, and those of a folder stay together. `aspect` is the picture's width by its height.
function settle(items, edges, aspect) {
  startByFolder(items);
  const range = items.length <= EXACT ? Infinity : 3.5 * SPACING;
  const neighbors = items.length <= EXACT ? items.length : 60;
  const rounds = Math.round(Math.min(250, Math.max(30, PAIRS / (items.length * neighbors + 1))));
  const degrees = new Map(items.map((item) => [item, 1]));
  for (const { from, to } of edges) {
    degrees.set(from, degrees.get(from) + 1);
    degrees.set(to, degrees.get(to) + 1);
  }
  const folders = [...Map.groupBy(items, (item) => item.folder).values()];
  for (let round = 0; round < rounds; round += 1) {
    for (const item of items) {
      item.dx = -item.x * 0.25;
      item.dy = -item.y * 0.25 * aspect ** 0.6;
    }
    repel(items, range);
    for (const { from, to } of edges) {
      const dx = to.x - from.x;
      const dy = to.y - from.y;
      const pull = (0.7 * Math.hypot(dx, dy)) / SPACING / Math.sqrt(Math.min(degrees.get(from), degrees.get(to)));
      from.dx += dx * pull;
      from.dy += dy * pull;
      to.dx -= dx * pull;
      to.dy -= dy * pull;
    }
    for (const folder of folders) {
      const x = folder.reduce((sum, item) => sum + item.x, 0) / folder.length;
      const y = folder.reduce((sum, item) => sum + item.y, 0) / folder.length;
      for (const item of folder) {
        item.dx += (x - item.x) * 0.5;
        item.dy += (y - item.y) * 0.5;
      }
    }
    const reach = SPACING * (1 - round / rounds);
    for (const item of items) {
      const length = Math.hypot(item.dx, item.dy) || 1;
      const step = Math.min(length, reach) / length;
      item.x += item.dx * step;
      item.y += item.dy * step;
    }
  }
}

// The items of a folder begin as a sunflower, and the folders around each other.
function startByFolder(items) {
  const folders = [...Map.groupBy(items, (item) => item.folder).values()];
  folders.sort((a, b) => b.length - a.length);
  let before = 0;
  folders.forEach((folder, number) => {
    const distance = SPACING * Math.sqrt(before + folder.length / 2) * (number ? 1 : 0);
    const x = distance * Math.cos(number * GOLDEN_ANGLE);
    const y = distance * Math.sin(number * GOLDEN_ANGLE);
    folder.forEach((item, index) => {
      const radius = 0.7 * SPACING * Math.sqrt(index);
      item.x = x + radius * Math.cos(index * GOLDEN_ANGLE);
      item.y = y + radius * Math.sin(index * GOLDEN_ANGLE);
    });
    before += folder.length;
  });
}

function repel(items, range) {
  const cells = Map.groupBy(items, (item) => cellOf(item, range, 0, 0));
  const sides = range === Infinity ? [0] : [-1, 0, 1];
  for (const item of items) {
    for (const right of sides) {
      for (const down of sides) {
        for (const other of cells.get(cellOf(item, range, right, down)) || []) {
          const dx = item.x - other.x;
          const dy = item.y - other.y;
          const square = dx * dx + dy * dy;
          if (other === item || square > range * range) continue;
          const push = (SPACING * SPACING) / (square || 1);
          item.dx += dx * push;
          item.dy += dy * push;
        }
      }
    }
  }
}

// The number of the square of the grid that an item is in, or of one beside it.
function cellOf(item, range, right, down) {
  if (range === Infinity) return 0;
  return (Math.floor(item.x / range) + right) * 65_536 + Math.floor(item.y / range) + down;
}
