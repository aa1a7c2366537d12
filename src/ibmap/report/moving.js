// Moving about the drawing and the heat map, and which variable or pair was meant by a tap.

const FINGER = 14; // pixels around a tap

const ranges = () => [models[`${state.view} x`], models[`${state.view} y`]];

function showWhole() {
  const n = order.length;
  const wide = viewWidth(),
    half = Math.min(90, wide / 6), // a name, in pixels
    margin = half / (wide - 2 * half);
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

/** Zoom to a variable and its neighbours, if they are a small part of what is in sight. */
function approach(i) {
  const around = [i, ...blanket(i).map((k) => other(k, i))];
  const spots =
    state.view === "network" ? around.map((j) => data.places[j]) : around.map((j) => [rankOf[j], rankOf[j]]);
  if (spots.some((spot) => spot[0] === undefined)) return;
  const least = state.view === "network" ? 0.15 : 4;
  ranges().forEach((range, axis) => {
    const at = spots.map((spot) => spot[axis]),
      middle = (Math.min(...at) + Math.max(...at)) / 2,
      half = Math.max(least, 0.75 * (Math.max(...at) - Math.min(...at))),
      now = (range.end - range.start) / 2;
    if (half < Math.abs(now))
      range.setv({ start: middle - Math.sign(now) * half, end: middle + Math.sign(now) * half });
  });
}

function move(axis, share) {
  const range = ranges()[axis],
    step = (range.end - range.start) * share;
  range.setv({ start: range.start + step, end: range.end + step });
}

/** Move to the middle of what was picked if any of it is out of sight. */
function centre() {
  const ends = pickedEnds();
  const spots =
    state.view === "network" ? ends.map((i) => data.places[i]) : [[rankOf[ends.at(0)], rankOf[ends.at(-1)]]]; // its cell; of a variable, that on the diagonal
  if (spots.some((spot) => spot.includes(undefined))) return; // it is not in the heat map
  ranges().forEach((range, axis) => {
    const at = spots.map((spot) => spot[axis]),
      middle = (Math.min(...at) + Math.max(...at)) / 2,
      half = (range.end - range.start) / 2;
    const inSight = (place) => (place - range.start) * (place - range.end) <= 0;
    if (!at.every(inSight)) range.setv({ start: middle - half, end: middle + half });
  });
}

// What a tap meant

/** How many pixels a unit of a figure is wide and high. */
function scaleOf(name) {
  const plot = models[`${name} plot`],
    across = models[`${name} x`],
    up = models[`${name} y`];
  return [plot.inner_width / (across.end - across.start), plot.inner_height / (up.end - up.start)];
}

/** Where the variables stand, in pixels from a point of the drawing. */
function inPixels(x, y) {
  const scale = scaleOf("network");
  return data.places.map((place) => [(place[0] - x) * scale[0], (place[1] - y) * scale[1]]);
}

/** The item with the least distance, if that is below the limit; else null. */
const nearest = (items, distance, limit) =>
  items
    .map((item) => [distance(item), item])
    .reduce((best, found) => (found[0] < best[0] ? found : best), [limit, null])[1];

/** The variable, else the pair, at a point of the drawing. */
function underFinger(x, y) {
  const pixels = inPixels(x, y);
  const variables = data.names.map((_, i) => i);
  const variable = nearest(variables, (i) => Math.hypot(...pixels[i]), FINGER);
  if (variable !== null) return { kind: "variable", index: variable };
  const distance = (k) => toSegment(pixels[pairs.x[k]], pixels[pairs.y[k]]);
  const pair = nearest(everyPair.filter(isShown), distance, FINGER);
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

/** The pair of the cell at, or next to, a point of the heat map; on the diagonal the variable. */
function underCell(x, y) {
  const scale = scaleOf("heat");
  const gap = (a, rank, axis) => Math.max(0, Math.abs(a - rank) - 0.5) * Math.abs(scale[axis]);
  const distance = (k) => {
    const [i, j] = [rankOf[pairs.x[k]], rankOf[pairs.y[k]]];
    return Math.min(Math.hypot(gap(x, i, 0), gap(y, j, 1)), Math.hypot(gap(x, j, 0), gap(y, i, 1)));
  };
  const pair = nearest(everyPair.filter(isShown), distance, FINGER / 2);
  const rank = Math.round(x);
  if (rank === Math.round(y) && rank in order && !(pair !== null && distance(pair) === 0))
    return { kind: "variable", index: order[rank] };
  return pair === null ? null : { kind: "pair", index: pair };
}
