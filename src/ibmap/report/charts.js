// The score over the ascents, and the histogram of posteriors.

const BINS = 24;

function setRanges(name, x, y) {
  for (const [axis, [start, end]] of [
    ["x", x],
    ["y", y],
  ]) {
    models[`${name} ${axis}`].setv({ start, end, reset_start: start, reset_end: end });
  }
}

function drawScores() {
  const steps = data.steps,
    edge = colour("edge"),
    removed = colour("removed");
  if (!steps.length) {
    at("scores").replaceChildren(element("p", { class: "faint" }, "There were no ascents to show."));
    return;
  }
  const first = steps[0][4] - steps[0][3];
  const words = ([x, y, added, gain], n) =>
    `${n + 1}: ${added ? "added" : "removed"} ${data.names[x]} - ${data.names[y]}, gain ${gain.toPrecision(4)}`;
  models.steps.data = {
    n: [0, ...steps.map((_, n) => n + 1)],
    score: [first, ...steps.map((step) => step[4])],
    color: [edge, ...steps.map((step) => (step[2] ? edge : removed))],
    label: ["where the search began", ...steps.map(words)],
  };
  const scores = models.steps.data.score,
    low = scores.reduce((a, b) => Math.min(a, b)),
    high = scores.reduce((a, b) => Math.max(a, b));
  setRanges(
    "scores",
    [-0.02 * steps.length, 1.02 * steps.length],
    [low - 0.05 * (high - low), high + 0.05 * (high - low)],
  );
  models["score line"].glyph.setv({ line_color: edge });
}

/** The ascent at a point of the chart, as the pair that it flipped. */
function flippedAt(n) {
  const step = data.steps[Math.round(n) - 1];
  const found = step && edgesOf[step[0]].find((k) => pairs.x[k] === step[1] || pairs.y[k] === step[1]);
  return found === undefined || !step ? null : { kind: "pair", index: found };
}

function drawHistogram() {
  const known = everyPair.filter((k) => pairs.xy[k] !== null);
  if (!known.length) {
    const why = pairs.x.length
      ? "This learner decides; its edges have no posterior."
      : "There are no pairs to show.";
    at("histogram").replaceChildren(element("p", { class: "faint" }, why));
    return;
  }
  const places = known.map((k) => evidence(logPosterior(k)));
  const low = places.reduce((a, b) => Math.min(a, b), 0),
    width = (places.reduce((a, b) => Math.max(a, b), 1) - low) / BINS;
  const kinds = [
    { kind: "edge", tint: colour("edge") },
    { kind: "near miss", tint: colour("miss") },
    { kind: "not adjacent", tint: colour("faint") },
  ];
  const heights = new Array(BINS).fill(0),
    bars = [];
  for (const { kind, tint } of kinds) {
    const counts = new Array(BINS).fill(0);
    known.forEach((k, n) => {
      if (kindOf(k) === kind) counts[Math.min(BINS - 1, Math.floor((places[n] - low) / width))] += 1;
    });
    counts.forEach((count, b) => {
      const [left, right] = [low + b * width, low + (b + 1) * width];
      const label = `${kind}: ${counted(count, "pair")}, posterior ${probability(posteriorAt(left))} to ${probability(posteriorAt(right))}`;
      if (count) bars.push([left, left + 0.92 * width, heights[b], heights[b] + count, tint, label]);
      heights[b] += count;
    });
  }
  setRanges("histogram", [low - width / 2, low + (BINS + 0.5) * width], [0, 1.05 * Math.max(...heights)]);
  const columns = ["left", "right", "bottom", "top", "color", "label"];
  models.bars.data = Object.fromEntries(columns.map((name, c) => [name, bars.map((bar) => bar[c])]));
}

/** Give figures the colours of the page. */
function dress() {
  const faint = colour("faint"),
    line = colour("line"),
    paper = colour("paper");
  for (const name of ["network", "heat", "scores", "histogram"]) {
    models[`${name} plot`].setv({ background_fill_color: paper, border_fill_color: paper }); // for saved pictures
  }
  for (const name of ["heat plot", "scores plot", "histogram plot"]) {
    const plot = models[name];
    for (const axis of [...plot.above, ...plot.below, ...plot.left]) {
      axis.setv({
        major_label_text_color: faint,
        axis_label_text_color: faint,
        axis_line_color: line,
        major_tick_line_color: line,
        minor_tick_line_color: null,
      });
    }
    for (const grid of plot.center) grid.setv({ grid_line_color: name === "heat plot" ? null : line });
  }
}
