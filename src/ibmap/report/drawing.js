// The drawing and the heat map: which pairs are seen, where they stand, and which of them was meant by a tap.

const models = {};
const FINGER = 14; // pixels around a tap
const LETTER = [6.6, 15]; // pixels of a letter

function findModels() {
  for (const document of Bokeh.documents) {
    for (const model of document._all_models.values()) if (model.name) models[model.name] = model;
  }
}

const isPicked = (k) => {
  const picked = state.picked;
  if (!picked) return false;
  return picked.kind === "pair" ? isPair(k) : pairs.x[k] === picked.index || pairs.y[k] === picked.index;
};

function draw() {
  const shown = everyPair.filter(isShown);
  const edges = shown.filter((k) => pairs.edge[k]).length;
  at("shown").textContent =
    `${counted(edges, "edge")}, ${counted(shown.length - edges, "near miss", "near misses")}`;
  if (state.view === "network") drawNetwork(shown);
  else drawHeat(shown);
}

function drawNetwork(shown) {
  const ends = (which, axis) => shown.map((k) => data.places[pairs[which][k]][axis]);
  const faded = state.picked !== null;
  const tint = { edge: colour("edge"), miss: colour("miss"), picked: colour("picked") };
  models.edges.data = {
    x0: ends("x", 0),
    y0: ends("x", 1),
    x1: ends("y", 0),
    y1: ends("y", 1),
    color: shown.map((k) => (isPair(k) ? tint.picked : pairs.edge[k] ? tint.edge : tint.miss)),
    width: shown.map((k) => 1 + 3.5 * strength(k)),
    alpha: shown.map((k) => (faded && !isPicked(k) ? 0.18 : 0.85)),
    dash: shown.map((k) => (pairs.edge[k] ? [] : [6, 5])),
    label: shown.map((k) => `${label(k)}: ${probability(logPosterior(k))}`),
  };
  drawNodes(tint);
}

/** The variables that a selection is about: itself and its blanket, or both ends of a pair. */
function neighbourhood() {
  if (!state.picked) return new Set();
  const about = everyPair.filter((k) => isPicked(k) && (pairs.edge[k] || state.picked.kind === "pair"));
  const members = about.flatMap((k) => [pairs.x[k], pairs.y[k]]);
  return new Set(state.picked.kind === "variable" ? [state.picked.index, ...members] : members);
}

/** Where the names go that fit without covering each other, in pixels below their points: what was picked first, then by degree. */
function namesThatFit(near, main) {
  const points = inPixels(0, 0),
    taken = [],
    fit = new Map();
  const rank = (i) => (i === main ? 2e6 : near.has(i) ? 1e6 : 0) + data.degrees[i];
  for (const i of data.names.map((_, i) => i).sort((a, b) => rank(b) - rank(a) || a - b)) {
    const half = (LETTER[0] * short(data.names[i]).length) / 2,
      [x, y] = points[i];
    const free = (offset) =>
      !taken.some(
        ([otherX, otherY, otherHalf]) =>
          Math.abs(x - otherX) < half + otherHalf && Math.abs(y - offset - otherY) < LETTER[1],
      ) &&
      !points.some(
        ([dotX, dotY], j) => j !== i && Math.abs(x - dotX) < half + 4 && Math.abs(y - offset - dotY) < 9,
      );
    const offset = [-14, 14].find(free);
    if (offset === undefined) continue;
    taken.push([x, y - offset, half]);
    fit.set(i, offset);
  }
  return fit;
}

function drawNodes(tint) {
  const main = state.picked?.kind === "variable" ? state.picked.index : -1;
  const near = neighbourhood(),
    fit = namesThatFit(near, main);
  const everyName = data.names.map((_, i) => i);
  const ink = colour("ink"),
    faint = colour("faint"),
    paper = colour("paper");
  models.nodes.data = {
    x: data.places.map((place) => place[0]),
    y: data.places.map((place) => place[1]),
    size: everyName.map((i) => (i === main ? 13 : 6 + Math.min(8, data.degrees[i]))),
    color: everyName.map((i) => (i === main ? tint.picked : !near.size || near.has(i) ? ink : faint)),
    text: data.names.map((name, i) => (fit.has(i) ? short(name) : "")),
    offset: everyName.map((i) => fit.get(i) ?? 0),
    ink: everyName.map((i) => (!near.size || near.has(i) ? ink : faint)),
    halo: everyName.map(() => paper),
    label: data.names,
  };
}

/** An order that brings neighbours together (Cuthill and McKee): from the ends of the network inwards. */
function neighbourly() {
  const byDegree = (a, b) => data.degrees[a] - data.degrees[b] || a - b;
  const seen = data.names.map(() => false),
    order = [];
  for (const first of data.names.map((_, i) => i).sort(byDegree)) {
    if (seen[first]) continue;
    seen[first] = true;
    order.push(first);
    for (let n = order.length - 1; n < order.length; n += 1) {
      const next = edgesOf[order[n]].filter((k) => pairs.edge[k]).map((k) => other(k, order[n]));
      for (const i of next.filter((i) => !seen[i]).sort(byDegree)) {
        seen[i] = true;
        order.push(i);
      }
    }
  }
  return order.reverse();
}

const order = neighbourly();
const rankOf = order.reduce((ranks, i, rank) => {
  ranks[i] = rank;
  return ranks;
}, []);
const nameAt = (tick) => {
  const i = Number.isInteger(tick) ? order[tick] : undefined;
  return i === undefined ? "" : short(data.names[i], 18);
};

function drawHeat(shown) {
  const twice = shown.flatMap((k) => [k, k]);
  const cell = (one, other) => twice.map((k, n) => rankOf[n % 2 ? pairs[other][k] : pairs[one][k]]);
  const tint = { edge: colour("edge"), miss: colour("miss"), picked: colour("picked") };
  const plot = models["heat plot"]; // a cell is never smaller than can be seen
  const least = (axis, pixels) =>
    Math.max(1, (3 * Math.abs(models[`heat ${axis}`].end - models[`heat ${axis}`].start)) / (pixels || 500));
  models["cell glyph"].glyph.setv({
    width: { value: least("x", plot.inner_width) },
    height: { value: least("y", plot.inner_height) },
  });
  models.cells.data = {
    x: cell("x", "y"),
    y: cell("y", "x"),
    color: twice.map((k) => (isPicked(k) ? tint.picked : pairs.edge[k] ? tint.edge : tint.miss)),
    alpha: twice.map((k) => 0.3 + 0.7 * strength(k)),
    label: twice.map((k) => `${label(k)}: ${probability(logPosterior(k))}`),
  };
}

// Moving about

const ranges = () => [models[`${state.view} x`], models[`${state.view} y`]];

function showWhole() {
  const n = data.names.length,
    wide = models["network plot"].inner_width || 800;
  const margin = Math.min(0.3, 70 / wide); // for half a name
  const box =
    state.view === "network"
      ? [
          [-margin, 1 + margin],
          [-0.06, 1.12],
        ]
      : [
          [-0.5, n - 0.5],
          [n - 0.5, -0.5],
        ];
  setRanges(state.view, ...box);
}

function zoom(factor) {
  for (const range of ranges()) {
    const middle = (range.start + range.end) / 2,
      half = ((range.end - range.start) / 2) * factor;
    range.setv({ start: middle - half, end: middle + half });
  }
}

function move(axis, share) {
  const range = ranges()[axis],
    step = (range.end - range.start) * share;
  range.setv({ start: range.start + step, end: range.end + step });
}

function centreOn(i) {
  if (state.view !== "network") return;
  ranges().forEach((range, axis) => {
    const half = (range.end - range.start) / 2,
      place = data.places[i][axis];
    if (place < range.start || place > range.end) range.setv({ start: place - half, end: place + half });
  });
}

// What a tap meant

/** Where the variables stand, in pixels from a point of the drawing. */
function inPixels(x, y) {
  const plot = models["network plot"],
    across = models["network x"],
    up = models["network y"];
  const scale = [plot.inner_width / (across.end - across.start), plot.inner_height / (up.end - up.start)];
  return data.places.map((place) => [(place[0] - x) * scale[0], (place[1] - y) * scale[1]]);
}

/** The variable, else the pair, at a point of the drawing. */
function underFinger(x, y) {
  const pixels = inPixels(x, y);
  const nearest = (items, distance) =>
    items
      .map((item) => [distance(item), item])
      .reduce((best, found) => (found[0] < best[0] ? found : best), [FINGER, null])[1];
  const variable = nearest(
    data.names.map((_, i) => i),
    (i) => Math.hypot(...pixels[i]),
  );
  if (variable !== null) return { kind: "variable", index: variable };
  const pair = nearest(everyPair.filter(isShown), (k) => toSegment(pixels[pairs.x[k]], pixels[pairs.y[k]]));
  return pair === null ? null : { kind: "pair", index: pair };
}

/** How far the origin is from a segment. */
function toSegment([ax, ay], [bx, by]) {
  const dx = bx - ax,
    dy = by - ay,
    length = dx * dx + dy * dy;
  const t = length ? Math.min(1, Math.max(0, -(ax * dx + ay * dy) / length)) : 0;
  return Math.hypot(ax + t * dx, ay + t * dy);
}

/** The pair of a cell of the heat map; on the diagonal the variable. */
function underCell(x, y) {
  const [i, j] = [order[Math.round(x)], order[Math.round(y)]];
  if (i === undefined || j === undefined) return null;
  if (i === j) return { kind: "variable", index: i };
  const found = edgesOf[i].find((k) => (pairs.x[k] === j || pairs.y[k] === j) && isShown(k));
  return found === undefined ? null : { kind: "pair", index: found };
}
