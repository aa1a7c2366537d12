// Pictures instead of digits: shares, sizes with their intervals, counts, the score over the steps of the search.

/** A bar as long as the strength of a pair, in the colour of its sign. */
const strengthBar = (k) =>
  strength(k) === null
    ? element("span", { class: "bar" })
    : element(
        "span",
        { class: "bar", title: `strength ${strength(k).toFixed(2)}` },
        element("span", { class: signOf(k), style: { width: `${Math.max(2, 100 * strength(k))}%` } }),
      );

/** What an effect looks like: shares where both have levels, else its size with an interval. */
function picture(k) {
  if (known("depends", k)) return dependence(known("depends", k));
  const [ratio, error] = ["log_odds_ratio", "log_odds_ratio_se"].map((name) => known(name, k));
  const twoByTwo = (log) => [[log / 4, -log / 4], [-log / 4, log / 4]];
  if (ratio !== null && known("counts", k))
    return shares(k, twoByTwo(ratio), [twoByTwo(ratio - 1.96 * error), twoByTwo(ratio + 1.96 * error)]);
  if (known("table", k) && known("counts", k)) return shares(k, known("table", k));
  return [...sizes(k), ...shares(k, null)];
}

/** The sizes of an effect that are known. */
function sizes(k) {
  const has = (name) => known(name, k) !== null;
  const row = (name, what) => ({ what, value: known(name, k), error: known(`${name}_se`, k) });
  if (has("partial_correlation"))
    return gauge("Correlation", [
      row("partial_correlation", "given all others"),
      ...(has("correlation") ? [row("correlation", "of the two alone")] : []),
    ]);
  if (has("mean_difference")) {
    const i = data.levels[pairs.x[k]] ? pairs.x[k] : pairs.y[k],
      levels = data.levels[i],
      top = has("highest") ? `${levels?.[known("highest", k)]}, above the lowest` : `${levels?.at(-1)}, not ${levels?.[0]}`,
      scale = ", in standard deviations, given all others";
    const heading = ["How much higher ", named(other(k, i)), " is by ", named(i), scale];
    return gauge(heading, [row("mean_difference", levels ? top : "")]);
  }
  if (has("score_correlation"))
    return gauge("Correlation of the levels, numbered in order", [row("score_correlation", "given all others")]);
  if (!has("strength")) return [];
  return gauge("Strength", [row("strength", "given all others")], 1, undefined, "unsigned");
}

/** How an effect depends on another variable. */
function dependence({ on, levels, measure, values, errors }) {
  const rows = values.map((value, n) => ({
    what: on.map((name, m) => `${name} = ${levels[n][m]}`).join(", "),
    value,
    error: errors[n],
  }));
  if (measure === "strength") return gauge("Strength (Cramér's V), by level", rows, 1, undefined, "unsigned");
  const times = (log) => `× ${Number(Math.exp(log).toPrecision(2))}`;
  return gauge("Factor of the odds, by level", rows, Math.log(10), times);
}

/** Points with their intervals of 95 % on one scale: around zero, or from zero to one if they have no sign. */
function gauge(heading, rows, least = 1, text = (value) => value.toFixed(2), sign = null) {
  const far = ({ value, error }) => Math.abs(value) + 1.96 * (error ?? 0),
    most = Math.max(...rows.map(far)),
    end = least === 1 && most <= 1 ? 1 : Math.max(least, 1.05 * most),
    onTrack = (value) => place(sign ? value : 0.5 + value / end / 2),
    marks = sign ? [0, 0.5, 1] : [-end, 0, end];
  const line = ({ what, value, error }) => {
    const [low, high] = [value - 1.96 * error, value + 1.96 * error],
      kind = sign ?? (value < 0 ? "negative" : "positive");
    return [
      element("span", { class: "what" }, element("bdi", {}, what)),
      element(
        "span",
        { class: `track ${sign ? "" : "zero"}` },
        error !== null && interval(low, high, onTrack),
        element("span", { class: `point ${kind}`, style: { left: onTrack(value) } }),
      ),
      element("span", { class: "value" }, text(value), error !== null && element("small", {}, ` ${text(low)} to ${text(high)}`)),
    ];
  };
  const ticks = element("span", { class: "ticks" }, marks.map((mark) => element("span", {}, text(mark))));
  return [
    element("h4", {}, heading),
    element("div", { class: "bars" }, rows.map(line), element("span"), ticks, element("span")),
    small("A point is the estimate, the line through it a 95 % interval."),
  ];
}

const interval = (low, high, place) =>
  element("span", {
    class: "interval",
    style: { left: place(low), width: `calc(${place(high)} - ${place(low)})` },
  });

const sum = (list) => list.reduce((a, b) => a + b, 0);
const turned = (table) => table[0].map((_, c) => table.map((row) => row[c]));

/** The table with these margins and the odds ratios of a log table, as with_margins in effect_size.py. */
function withMargins(log, rows, columns) {
  let found = log.map((row, r) => row.map((value, c) => Math.exp(value) * rows[r] * columns[c]));
  for (let n = 0; n < 500; n += 1) {
    const down = turned(found).map(sum);
    found = found.map((row) => row.map((p, c) => (down[c] ? (p * columns[c]) / down[c] : 0)));
    found = found.map((row, r) => (sum(row) ? row.map((p) => (p * rows[r]) / sum(row)) : row));
  }
  return found;
}

const NOTES = {
  fitted: "Expected shares where all other variables are equal.",
  interval: ` The line is a 95 % interval.`,
  mark: " The mark is the share as counted, other variables ignored.",
  counted: "As counted, other variables ignored.",
};

/** The shares of one variable by level of the other, everything else equal, or as they were counted. */
function shares(k, log, ends = []) {
  let counts = known("counts", k),
    [given, shown] = [pairs.x[k], pairs.y[k]];
  if (!counts || !data.levels[given] || !data.levels[shown] || !sum(counts.map(sum))) return [];
  let logs = [log, ...ends].filter(Boolean);
  if (counts[0].length > counts.length) {
    [given, shown] = [shown, given];
    [counts, ...logs] = [counts, ...logs].map(turned);
  }
  const all = sum(counts.map(sum)),
    [rows, columns] = [counts, turned(counts)].map((table) => table.map((row) => sum(row) / all)),
    within = (table) => table.map((row) => row.map((share) => (sum(row) ? share / sum(row) : 0))),
    raw = within(counts),
    [fitted, low, high] = logs.map((table) => within(withMargins(table, rows, columns))),
    two = columns.length === 2,
    levels = data.levels[shown].map((name) => element("bdi", {}, name));
  const bars = (r) =>
    two
      ? oneShare((fitted ?? raw)[r][1], low && [low[r][1], high[r][1]], fitted ? raw[r][1] : null)
      : manyShares((fitted ?? raw)[r], data.levels[shown]);
  const line = (name, r) => (rows[r] ? [element("span", { class: "what" }, element("bdi", {}, name)), bars(r)] : []);
  const dot = (c) => element("span", { class: "dot share", style: tint(c, columns.length - 1) });
  return [
    element("h4", {}, two ? ["Share with ", named(shown), " = ", levels[1]] : ["Shares of ", named(shown)], ", by ", named(given)),
    two ? null : element("p", { class: "legend" }, levels.map((name, c) => [dot(c), name])),
    element("div", { class: "bars" }, data.levels[given].map(line)),
    small(fitted ? [NOTES.fitted, low && NOTES.interval, two && NOTES.mark] : NOTES.counted),
  ];
}

const place = (share) => `${100 * Math.max(0, Math.min(1, share))}%`;
const tint = (c, last) => ({ opacity: 0.12 + (0.5 * c) / last });

/** A share as a bar, with its interval and the share as counted. */
const oneShare = (share, range, raw) => [
  element(
    "span",
    { class: "track" },
    element("span", { class: "share", style: { width: place(share) } }),
    range && interval(Math.min(...range), Math.max(...range), place),
    raw !== null && element("span", { class: "counted", style: { left: place(raw) } }),
  ),
  element(
    "span",
    { class: "value" },
    percent(share),
    range && element("small", {}, ` ${range.map((end) => Math.round(100 * end)).sort((a, b) => a - b).join(" to ")}`),
  ),
];

/** Shares that add up to one, side by side. */
function manyShares(row, levels) {
  const part = (share, c) =>
    element(
      "span",
      { title: `${levels[c]}: ${percent(share)}`, style: { width: place(share) } },
      element("span", { class: "share", style: tint(c, row.length - 1) }),
      share > 0.12 && element("small", {}, percent(share)),
    );
  return element("span", { class: "track stacked" }, row.map(part));
}

/** The rows with each level of both ends of an edge. */
function countsOf(k) {
  const counts = known("counts", k),
    [rows, columns] = [data.levels[pairs.x[k]], data.levels[pairs.y[k]]];
  if (!counts || !rows || !columns) return [];
  const cell = (tag, what) => element(tag, { class: "number" }, what),
    head = columns.map((level) => cell("th", element("bdi", {}, level))),
    row = (numbers, r) => [
      element("th", {}, element("bdi", {}, rows[r])),
      numbers.map((n) => cell("td", n.toLocaleString("en"))),
    ];
  return [
    paragraph("Rows with each level of ", named(pairs.x[k]), " (down) and ", named(pairs.y[k]), " (across):"),
    element(
      "div",
      { class: "scroll" },
      element(
        "table",
        { class: "counts" },
        element("thead", {}, element("tr", {}, element("td"), head)),
        element("tbody", {}, counts.map((numbers, r) => element("tr", {}, row(numbers, r)))),
      ),
    ),
  ];
}

/** The score over the steps of the search. */
function drawScores() {
  const n = data.steps.length;
  if (!n) return at("scores").replaceChildren(small("The search took no steps that could be shown."));
  const scores = [data.steps[0][4] - data.steps[0][3], ...data.steps.map((step) => step[4])],
    low = scores.reduce((a, b) => Math.min(a, b)),
    high = scores.reduce((a, b) => Math.max(a, b)),
    up = (score) => 118 - (116 * (score - low)) / (high - low || 1),
    points = scores.map((score, m) => `${((600 * m) / n).toFixed(1)} ${up(score).toFixed(1)}`).join(" ");
  const frame = { class: "scores", viewBox: "0 0 600 120", preserveAspectRatio: "none", "aria-hidden": "true" },
    [first, last] = [scores[0], scores.at(-1)].map((score) => score.toFixed(1));
  at("scores").replaceChildren(
    paragraph(`The score went from ${first} to ${last} in ${counted(n, "step")}; each adds or removes one edge.`),
    svg("svg", frame, svg("polyline", { points })),
  );
}
