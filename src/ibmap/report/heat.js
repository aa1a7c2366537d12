// The heat map: an order of the variables, a cell for each pair (twice), and bands through what was picked.

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
const rankOf = new Array(order.length);
order.forEach((i, rank) => {
  rankOf[i] = rank;
});
const nameAt = (tick) => {
  const i = Number.isInteger(tick) ? order[tick] : undefined;
  return i === undefined ? "" : short(data.names[i], viewWidth() < 500 ? 10 : 18);
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
    label: twice.map(tip),
  };
  drawBands(plot);
}

/** Bands through the row and the column of what was picked, and as many names as there is room for. */
function drawBands(plot) {
  const n = data.names.length,
    middle = (n - 1) / 2,
    ranks = pickedEnds().map((i) => rankOf[i]);
  models.bands.data = {
    x: [...ranks, ...ranks.map(() => middle)],
    y: [...ranks.map(() => middle), ...ranks],
    width: [...ranks.map(() => 1), ...ranks.map(() => n)],
    height: [...ranks.map(() => n), ...ranks.map(() => 1)],
    color: [...ranks, ...ranks].map(() => colour("picked")),
  };
  const room = (pixels) => Math.max(2, Math.floor((pixels ?? 500) / 20)); // the inner size would follow the names, and they it
  models["heat columns"].setv({ desired_num_ticks: room(plot.outer_width) });
  models["heat rows"].setv({ desired_num_ticks: room(plot.outer_height) });
}
