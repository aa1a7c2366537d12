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
      what = !levels ? "" : has("highest") ? `${levels[known("highest", k)]}, above the lowest` : `${levels.at(-1)}, not ${levels[0]}`,
      heading = ["How much higher ", named(other(k, i)), " is by ", named(i), ", in standard deviations, given all others"];
    return gauge(heading, [{ ...row("mean_difference"), what }], 1);
  }
  if (has("score_correlation")) return gauge("Correlation of the levels, numbered in order", [row("score_correlation", "given all others")]);
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
  return measure === "strength"
    ? gauge("Strength (Cramér's V), by level", rows, 1, undefined, "unsigned")
    : gauge("Factor of the odds, by level", rows, Math.log(10), (log) => `× ${Number(Math.exp(log).toPrecision(2))}`);
}

/** Points with their intervals of 95 % on a common scale: around zero, or from zero to one if they have no sign. */
function gauge(heading, rows, least = 1, text = (value) => value.toFixed(2), sign = null) {
  const far = ({ value, error }) => Math.abs(value) + 1.96 * (error ?? 0),
    end = least === 1 && rows.every((row) => far(row) <= 1) ? 1 : Math.max(least, 1.05 * Math.max(...rows.map(far))),
    onTrack = (value) => place(sign ? value : 0.5 + value / end / 2);
  const line = ({ what, value, error }) => [
    element("span", { class: "what" }, element("bdi", {}, what)),
    element(
      "span",
      { class: `track ${sign ? "" : "zero"}` },
      error === null ? null : interval(value - 1.96 * error, value + 1.96 * error, onTrack),
      element("span", { class: `point ${sign ?? (value < 0 ? "negative" : "positive")}`, style: { left: onTrack(value) } }),
    ),
    element(
      "span",
      { class: "value" },
      text(value),
      error === null ? null : element("small", {}, ` ${text(value - 1.96 * error)} to ${text(value + 1.96 * error)}`),
    ),
  ];
  const ticks = element("span", { class: "ticks" }, ...(sign ? [0, 0.5, 1] : [-end, 0, end]).map((tick) => element("span", {}, text(tick))));
  return [
    element("h4", {}, heading),
    element("div", { class: "bars" }, rows.flatMap(line), element("span"), ticks, element("span")),
    small("A point is the estimate, the line through it its interval of 95 %."),
  ];
}

const interval = (low, high, place) =>
  element("span", { class: "interval", style: { left: place(low), width: `calc(${place(high)} - ${place(low)})` } });

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
  const [rows, columns] = [counts, turned(counts)].map((table) => table.map((row) => sum(row) / sum(counts.map(sum))));
  const within = (table) => table.map((row) => row.map((p) => (sum(row) ? p / sum(row) : 0)));
  const raw = within(counts),
    [fitted, low, high] = logs.map((table) => within(withMargins(table, rows, columns))),
    last = columns.length - 1,
    found = fitted ?? raw;
  const line = (name, r) => [
    element("span", { class: "what" }, element("bdi", {}, name)),
    ...(last === 1 ? oneShare(found[r][1], low && [low[r][1], high[r][1]], fitted ? raw[r][1] : null) : manyShares(found[r], shown)),
  ];
  const what = last === 1 ? ["Share with ", named(shown), " = ", element("bdi", {}, data.levels[shown][1])] : ["Shares of ", named(shown)];
  const keys = [
    last > 1 ? data.levels[shown].map((name, c) => [element("span", { class: "dot share", style: tint(c, last) }), element("bdi", {}, name)]) : null,
  ].flat(2);
  return [
    element("h4", {}, ...what, ", by ", named(given)),
    keys[0] ? element("p", { class: "legend" }, ...keys) : null,
    element("div", { class: "bars" }, data.levels[given].flatMap((name, r) => (rows[r] ? line(name, r) : []))),
    small(
      fitted
        ? `As expected where all other variables are equal.${low ? " The line is the interval of 95 %." : ""}${last === 1 ? " The mark is the share as counted, whatever the others are." : ""}`
        : "As counted, whatever the other variables are.",
    ),
  ];
}

const place = (share) => `${100 * Math.max(0, Math.min(1, share))}%`;
const oneShare = (share, range, raw) => [
  element(
    "span",
    { class: "track" },
    element("span", { class: "share", style: { width: place(share) } }),
    range ? interval(Math.min(...range), Math.max(...range), place) : null,
    raw === null ? null : element("span", { class: "counted", style: { left: place(raw) } }),
  ),
  element(
    "span",
    { class: "value" },
    percent(share),
    range ? element("small", {}, ` ${range.map((p) => Math.round(100 * p)).sort((a, b) => a - b).join(" to ")}`) : null,
  ),
];
const tint = (c, last) => ({ opacity: 0.15 + (0.85 * c) / last });
const manyShares = (row, shown) => [
  element(
    "span",
    { class: "track stacked" },
    ...row.map((p, c) =>
      element("span", { title: `${data.levels[shown][c]}: ${percent(p)}`, style: { width: place(p) } },
        element("span", { class: "share", style: tint(c, row.length - 1) }),
        p > 0.12 ? element("small", {}, percent(p)) : null,
      ),
    ),
  ),
  element("span"),
];

/** The rows with each level of both ends of an edge. */
function countsOf(k) {
  const counts = known("counts", k),
    [rows, columns] = [data.levels[pairs.x[k]], data.levels[pairs.y[k]]];
  if (!counts || !rows || !columns) return [];
  const head = columns.map((level) => element("th", { class: "number" }, element("bdi", {}, level)));
  const body = counts.map((row, r) =>
    element("tr", {}, element("th", {}, element("bdi", {}, rows[r])), ...row.map((n) => element("td", { class: "number" }, n.toLocaleString("en")))),
  );
  return [
    element("p", {}, "Rows with each level of ", named(pairs.x[k]), " (down) and ", named(pairs.y[k]), " (across):"),
    element("div", { class: "scroll" },
      element("table", { class: "counts" },
        element("thead", {}, element("tr", {}, element("td"), ...head)),
        element("tbody", {}, ...body))),
  ];
}

/** The score over the steps of the search. */
function drawScores() {
  if (!data.steps.length) return at("scores").replaceChildren(small("The search took no steps that could be shown."));
  const scores = [data.steps[0][4] - data.steps[0][3], ...data.steps.map((step) => step[4])],
    low = scores.reduce((a, b) => Math.min(a, b)),
    high = scores.reduce((a, b) => Math.max(a, b)),
    points = scores.map((score, n) => `${((600 * n) / data.steps.length).toFixed(1)} ${(118 - (116 * (score - low)) / (high - low || 1)).toFixed(1)}`);
  at("scores").replaceChildren(
    element("p", {}, `The score went from ${scores[0].toFixed(1)} to ${scores.at(-1).toFixed(1)} in ${counted(data.steps.length, "step")}; each adds or removes one edge.`),
    svg("svg", { class: "scores", viewBox: "0 0 600 120", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("polyline", { points: points.join(" ") })),
  );
}
