// The panel: a variable and its blanket, or a pair and why it is there.

function showPanel() {
  const picked = state.picked;
  const filled = !picked
    ? hint()
    : picked.kind === "variable"
      ? aboutVariable(picked.index)
      : aboutPair(picked.index);
  const close = element("button", { type: "button", class: "close", "aria-label": "Close the details" }, "×");
  close.addEventListener("click", () => pick(null));
  at("panel").replaceChildren(...[...filled, picked ? close : null].filter((child) => child !== null));
  at("panel").classList.toggle("filled", picked !== null);
  at("said").textContent = announcement();
}

/** What a screen reader says at once; the panel has the rest. */
function announcement() {
  if (!state.picked) return "";
  const { kind, index } = state.picked;
  if (kind === "variable") return `${data.names[index]}: ${counted(data.degrees[index], "neighbour")}`;
  return tip(index);
}

function hint() {
  const lone = data.names.map((_, i) => i).filter((i) => data.degrees[i] === 0).length;
  return [
    element("h3", {}, "Pick something"),
    element(
      "p",
      {},
      "A click on a variable shows its neighbours and how sure each end is of them; a click on an edge shows its " +
        (data.continuous ? "correlations" : "counts") +
        " and the step of the search that added it. Rows of the table, and the box above, do the same.",
    ),
    lone ? element("p", { class: "faint" }, `${counted(lone, "variable")} without an edge.`) : null,
  ];
}

const seenFrom = (k, i) => (pairs.x[k] === i ? pairs.xy[k] : pairs.yx[k]);
const cell = (text) => element("td", { class: "number" }, text);

function aboutVariable(i) {
  const levels = data.levels[i];
  const edges = blanket(i),
    misses = edgesOf[i].filter((k) => !pairs.edge[k]).slice(0, 5);
  const cut = data.degrees[i] - edges.length;
  return [
    element("h3", {}, named(i)),
    element(
      "p",
      { class: "faint" },
      levels ? `${counted(levels.length, "level")}: ` : data.continuous ? "continuous" : "many levels",
      levels ? element("bdi", {}, levels.join(", ")) : null,
    ),
    element(
      "p",
      {},
      edges.length
        ? `Its blanket: ${counted(data.degrees[i], "variable")}. Once ${data.degrees[i] === 1 ? "it is" : "they are"} known, it is independent of all others in this network.`
        : "It has no edge: in this network it is independent of all others.",
    ),
    aboutGroup(i),
    edges.length ? neighbourTable(i, edges) : null,
    cut ? element("p", { class: "faint" }, `${counted(cut, "more edge")} of it are not on this page.`) : null,
    misses.length ? element("h4", {}, "Not adjacent, but closest to it") : null,
    misses.length ? neighbourTable(i, misses) : null,
  ];
}

function neighbourTable(i, which) {
  const heads = [
    "variable",
    "posterior",
    "from here",
    "from there",
    ...(data.has_support ? ["support"] : []),
  ];
  const row = (k) =>
    element(
      "tr",
      {},
      element(
        "td",
        { class: "name" },
        link(named(other(k, i)), () => pick("variable", other(k, i))),
      ),
      element(
        "td",
        { class: "number" },
        link(probability(logPosterior(k)), () => pick("pair", k)),
      ),
      cell(probability(seenFrom(k, i))),
      cell(probability(seenFrom(k, other(k, i)))),
      data.has_support ? cell(percent(pairs.support[k])) : null,
    );
  return element(
    "div",
    { class: "scroll" },
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element("tr", {}, ...heads.map((head, n) => element("th", { class: n ? "number" : "" }, head))),
      ),
      element("tbody", {}, ...which.map(row)),
    ),
  );
}

function aboutPair(k) {
  const [x, y] = [pairs.x[k], pairs.y[k]];
  const posterior = logPosterior(k);
  const ends = [link(named(x), () => pick("variable", x)), " – ", link(named(y), () => pick("variable", y))];
  return [
    element("h3", {}, ...ends),
    element(
      "p",
      {},
      pairs.edge[k] ? "They are adjacent" : `They are not adjacent${isMiss(k) ? " (a near miss)" : ""}`,
      ...(posterior === null ? ["."] : ["; posterior of an edge: ", number(`${probability(posterior)}.`)]),
    ),
    pairs.untested[k]
      ? element("p", {}, "Neither end could test it: among so many neighbours too few rows are left to tell.")
      : null,
    data.has_effects && pairs.effect_in_words[k] ? element("p", {}, pairs.effect_in_words[k]) : null,
    posterior === null ? null : element("p", {}, ...view(k, x, y)),
    posterior === null ? null : element("p", {}, ...view(k, y, x)),
    ...standIns(k),
    ...ascents(k).map((line) => element("p", {}, line)),
    pairs.support[k] === null
      ? null
      : element("p", {}, `Edge frequency: ${percent(pairs.support[k])} of the resampled tables have this edge.`),
    ...countsOf(k),
  ];
}

/** The view of one end: the probability that it depends on the other, given its other neighbours. */
function view(k, i, j) {
  const given = blanket(i)
    .map((edge) => other(edge, i))
    .filter((neighbour) => neighbour !== j);
  const listed = given.flatMap((neighbour, n) => [n ? ", " : "", named(neighbour)]);
  return [
    "Seen from ",
    named(i),
    given.length ? ", given " : " (no other neighbours)",
    ...listed,
    ": ",
    number(`${probability(seenFrom(k, i))}.`),
  ];
}

/** Which pairs could as well be adjacent in place of this one. */
function standIns(k) {
  return pairs.rivals[k].map(([stays, comes]) =>
    element("p", {}, "Or, in its place: ", named(stays), " – ", named(comes), "."),
  );
}

function ascents(k) {
  const same = ([x, y]) => (x === pairs.x[k] && y === pairs.y[k]) || (x === pairs.y[k] && y === pairs.x[k]);
  const told = ["required", "forbidden"]
    .filter((kind) => data.given[kind].some(same))
    .map((kind) => `The edge was ${kind} beforehand.`);
  if (!data.searched) return told;
  const lines = data.steps.flatMap((step, n) =>
    same(step)
      ? [
          `Ascent ${n + 1} of ${data.steps.length} ${step[2] ? "added" : "removed"} it: the score ${step[3] < 0 ? "fell" : "rose"} by ${Math.abs(step[3]).toPrecision(4)} to ${step[4].toPrecision(6)}.`,
        ]
      : [],
  );
  return [...told, ...(lines.length ? lines : ["The search never flipped this pair."])];
}

function countsOf(k) {
  const counts = pairs.counts[k],
    [rows, columns] = [data.levels[pairs.x[k]], data.levels[pairs.y[k]]];
  if (data.continuous)
    return pairs.edge[k] ? [] : [element("p", { class: "faint" }, "Its correlations: ibmap explain.")];
  if (!counts || !rows || !columns) {
    const why = pairs.edge[k]
      ? "There are too many levels to show the counts."
      : "Counts are kept for edges; for this pair: ibmap explain.";
    return [element("p", { class: "faint" }, why)];
  }
  const whole = counts.map((row) => row.reduce((sum, n) => sum + n, 0));
  const head = element(
    "tr",
    {},
    element("td", {}),
    ...columns.map((level) => element("th", { class: "number" }, element("bdi", {}, level))),
  );
  const body = counts.map((row, r) =>
    element(
      "tr",
      {},
      element("th", {}, element("bdi", {}, rows[r])),
      ...row.map((n) =>
        element(
          "td",
          { class: "number", style: { "--share": whole[r] ? n / whole[r] : 0 } },
          n.toLocaleString("en"),
          whole[r] ? element("small", {}, ` ${Math.round((100 * n) / whole[r])} %`) : null,
        ),
      ),
    ),
  );
  return [
    element(
      "h4",
      {},
      "Rows with each level of ",
      named(pairs.x[k]),
      " (down) and ",
      named(pairs.y[k]),
      " (across)",
    ),
    element(
      "div",
      { class: "scroll" },
      element("table", { class: "counts" }, element("thead", {}, head), element("tbody", {}, ...body)),
    ),
    element("p", { class: "faint" }, "Rows, and the share of their row: the fuller the colour, the larger."),
  ];
}
