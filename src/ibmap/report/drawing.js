// The drawing: which pairs are seen, and where names fit.

const models = {}; // of bokeh, by the names that figures.py gave them
const LETTER = [6.6, 15]; // pixels of a letter
const MODELS = [
  ...["edges", "nodes", "cells", "bands", "steps", "bars"], // sources
  ...["cell glyph", "score line", "heat columns", "heat rows"],
  ...["network", "heat", "scores", "histogram"].flatMap((plot) => [`${plot} plot`, `${plot} x`, `${plot} y`]),
  ...["network", "heat"].flatMap((plot) => [`${plot} pan`, `${plot} wheel`]),
];

function findModels() {
  for (const name of MODELS) {
    models[name] = Bokeh.documents.map((document) => document.get_model_by_name(name)).find(Boolean);
    if (!models[name]) throw new Error(`there is no model named ${name}`);
  }
}

const isPicked = (k) => {
  const picked = state.picked;
  if (!picked) return false;
  return picked.kind === "pair" ? isPair(k) : pairs.x[k] === picked.index || pairs.y[k] === picked.index;
};

const allMisses = everyPair.filter(isMiss).length;
const closestOf =
  data.n_near_misses > allMisses ? ` (the closest of ${data.n_near_misses.toLocaleString("en")})` : "";

function draw() {
  const shown = everyPair.filter(isShown);
  const edges = shown.filter((k) => pairs.edge[k]).length,
    misses = shown.filter(isMiss).length;
  const [drawn, missed] = [edges, misses].map((n) => n.toLocaleString("en"));
  at("shown").textContent =
    `${drawn} of ${counted(data.n_edges, "edge")}, ${missed} of ${counted(allMisses, "near miss", "near misses")}${closestOf}`;
  if (state.view === "network") drawNetwork(shown);
  else drawHeat(shown);
}

function drawNetwork(shown) {
  const ends = (which, axis) => shown.map((k) => data.places[pairs[which][k]][axis]);
  const faded = state.picked !== null;
  const tint = {
    ...{ edge: colour("edge"), miss: colour("miss"), picked: colour("picked") },
    ...{ falling: colour("removed"), unsigned: colour("ink") },
  };
  const edgeTint = (k) => tint[!data.has_effects || effectSign(k) > 0 ? "edge" : effectSign(k) ? "falling" : "unsigned"];
  models.edges.data = {
    x0: ends("x", 0),
    y0: ends("x", 1),
    x1: ends("y", 0),
    y1: ends("y", 1),
    color: shown.map((k) => (isPair(k) ? tint.picked : pairs.edge[k] ? edgeTint(k) : tint.miss)),
    width: shown.map((k) => 1 + 3.5 * (effectSize(k) ?? strength(k))),
    alpha: shown.map((k) => (faded && !isPicked(k) ? 0.18 : 0.85)),
    dash: shown.map((k) => (pairs.edge[k] ? [] : [6, 5])),
    label: shown.map(tip),
  };
  drawNodes(tint);
}

/** What was picked: a variable, or both ends of a pair. */
function pickedEnds() {
  if (!state.picked) return [];
  const { kind, index } = state.picked;
  return kind === "variable" ? [index] : [pairs.x[index], pairs.y[index]];
}

/** The variables that a selection is about: itself and its blanket, or both ends of a pair. */
function neighbourhood() {
  const ends = pickedEnds();
  const around = ends.length === 1 ? blanket(ends[0]).map((k) => other(k, ends[0])) : [];
  return new Set([...ends, ...around]);
}

const drawnName = (i) => short(data.names[i], viewWidth() < 500 ? 16 : 24);

/** Where the names go that fit without covering each other, in pixels below their points: what was picked first, then by degree. */
function namesThatFit(near, main) {
  const points = inPixels(0, 0),
    taken = [],
    fit = new Map();
  const rank = (i) => (i === main ? 2e6 : near.has(i) ? 1e6 : 0) + data.degrees[i];
  for (const i of data.names.map((_, i) => i).sort((a, b) => rank(b) - rank(a) || a - b)) {
    const half = (LETTER[0] * drawnName(i).length) / 2,
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
    size: everyName.map((i) => (i === main ? Math.max(13, nodeSize(i)) : nodeSize(i))),
    color: everyName.map((i) => (i === main ? tint.picked : !near.size || near.has(i) ? nodeColour(i, ink) : faint)),
    text: everyName.map((i) => (fit.has(i) ? drawnName(i) : "")),
    offset: everyName.map((i) => fit.get(i) ?? 0),
    ink: everyName.map((i) => (!near.size || near.has(i) ? ink : faint)),
    halo: everyName.map(() => paper),
    label: data.names.map((name, i) => `${name}: ${counted(data.degrees[i], "neighbour")}`),
  };
}
