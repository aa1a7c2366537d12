// The heat map: an order of the variables, a cell for each pair (twice), and bands through what was picked.

const SEEN = 3; // pixels: a cell is never smaller than can be seen

const matters = (k) => pairs.edge[k] || isMiss(k);
const nothing = !everyPair.some(matters);
/** Whether a variable is in the heat map: it has an edge or a near miss, or nobody has. */
const inHeat = (i) => nothing || edgesOf[i].some(matters);

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
  return order.filter(inHeat).reverse();
}

const order = neighbourly();
const rankOf = new Array(data.names.length);
order.forEach((i, rank) => {
  rankOf[i] = rank;
});
const nameAt = (tick) => {
  const i = Number.isInteger(tick) ? order[tick] : undefined;
  return i === undefined ? "" : short(data.names[i], viewWidth() < 500 ? 10 : 18);
};

function drawHeat(shown) {
  const there = shown.filter((k) => rankOf[pairs.x[k]] !== undefined && rankOf[pairs.y[k]] !== undefined);
  const twice = there.flatMap((k) => [k, k]);
  const cell = (one, other) => twice.map((k, n) => rankOf[n % 2 ? pairs[other][k] : pairs[one][k]]);
  const tint = { edge: colour("edge"), miss: colour("miss"), picked: colour("picked") };
  const [width, height] = scaleOf("heat").map((scale) => Math.max(1, SEEN / Math.abs(scale || 1)));
  models["cell glyph"].glyph.setv({ width: { value: width }, height: { value: height } });
  models.cells.data = {
    x: cell("x", "y"),
    y: cell("y", "x"),
    color: twice.map((k) => (isPicked(k) ? tint.picked : pairs.edge[k] ? tint.edge : tint.miss)),
    alpha: twice.map((k) => (isPicked(k) ? 1 : 0.3 + 0.7 * strength(k))),
    label: twice.map(tip),
  };
  drawBands(width, height, tint.picked);
  makeRoomForNames();
}

/** Draw bands through the row and the column of what was picked. */
function drawBands(width, height, color) {
  const n = order.length,
    middle = (n - 1) / 2,
    ranks = pickedEnds()
      .map((i) => rankOf[i])
      .filter((rank) => rank !== undefined);
  const both = (columns, rows) => [...ranks.map(columns), ...ranks.map(rows)];
  models.bands.data = {
    x: both(
      (rank) => rank,
      () => middle,
    ),
    y: both(
      () => middle,
      (rank) => rank,
    ),
    width: both(
      () => width,
      () => n,
    ),
    height: both(
      () => n,
      () => height,
    ),
    color: both(
      () => color,
      () => color,
    ),
  };
}

/** Show as many names as fit: by the outer size, as the inner one depends on the names. */
function makeRoomForNames() {
  const plot = models["heat plot"];
  const room = (pixels) => Math.max(2, Math.floor((pixels ?? 500) / 20));
  models["heat columns"].setv({ desired_num_ticks: room(plot.outer_width) });
  models["heat rows"].setv({ desired_num_ticks: room(plot.outer_height) });
}
