// The panel: the strongest associations, a variable and its neighbours, or a pair and what is known about it.

const STRONGEST = 10;

function showPanel() {
  const picked = state.picked;
  const about = { variable: aboutVariable, pair: aboutPair }[picked?.kind] ?? overview;
  const close = { type: "button", class: "close", "aria-label": "Close the details", onclick: () => pick(null) };
  at("panel").replaceChildren();
  fill(at("panel"), {}, about(picked?.index), picked && element("button", close, "×"));
  at("panel").classList.toggle("filled", picked !== null);
  at("panel").scrollTop = 0;
  at("said").textContent = announcement();
}

/** What a screen reader says at once; the panel has the rest. */
function announcement() {
  if (!state.picked) return "";
  const { kind, index } = state.picked;
  if (kind === "pair") return tip(index);
  return `${data.names[index]}: ${counted(data.degrees[index], "direct association")}`;
}

/** What is shown while nothing is picked. */
function overview() {
  const alone = data.degrees.filter((n) => n === 0).length,
    first = onePerLine(everyPair.filter(isEdge)).sort(byStrength).slice(0, STRONGEST),
    which = hasEffects ? "The strongest associations" : hasPosteriors ? "The surest associations" : "Associations";
  return [
    element("h3", {}, which),
    first.length ? pairList(first) : paragraph("There are none."),
    alone ? small(`${counted(alone, "variable")} without any direct association.`) : null,
    small("Pick a name or a line in the drawing, or a row, to see more about it."),
  ];
}

/** Pairs as a list, the strength of each as a bar; of one variable, only their other ends. */
function pairList(which, i = null) {
  const row = (k) => {
    const posterior = hasPosteriors ? `posterior ${roughly(logPosterior(k))}` : "",
      effect = known("effect", k) || "more";
    return element(
      "li",
      {},
      i === null ? toPair(k, named(pairs.x[k]), " – ", named(pairs.y[k])) : toVariable(other(k, i)),
      element("small", { title: probability(logPosterior(k)) }, posterior),
      hasEffects && element("div", {}, strengthBar(k), i === null ? effect : toPair(k, effect)),
      !hasEffects && i !== null && toPair(k, "more"),
    );
  };
  return element("ul", {}, which.map(row));
}

function aboutVariable(i) {
  const edges = edgesOf[i].filter(isEdge).sort(byStrength),
    close = edgesOf[i].filter(isUndecided).slice(0, 5),
    cut = data.degrees[i] - edges.length,
    copies = nodesOf[nodes.of[i]].filter((one) => one !== i),
    these = data.degrees[i] === 1 ? "this variable is" : "these variables are";
  const listed = close.map((k) => [
    toPair(k, named(other(k, i))),
    hasPosteriors ? ` ${roughly(logPosterior(k))}` : "",
  ]);
  return [
    element("h3", {}, named(i)),
    kindOf(i),
    copies.length
      ? paragraph("The same in all rows, up to the names of levels: ", inARow(copies.map(toVariable)), ".")
      : null,
    edges.length
      ? paragraph(
          `${counted(data.degrees[i], "direct association")}. `,
          `Once ${these} known, the others say nothing more about it.`,
        )
      : paragraph("No direct association: in this network it is independent of all other variables."),
    edges.length ? predictedBy(i) : null,
    edges.length ? pairList(edges, i) : null,
    cut ? small(`${counted(cut, "more association")} of it are not on this page.`) : null,
    close.length ? paragraph("Undecided, with their posteriors: ", inARow(listed), ".") : null,
    aboutGroup(nodes.of[i]),
  ];
}

/** How much of a variable its neighbours explain, in rows left out. */
function predictedBy(i) {
  const share = data.predictability[i];
  return share === null
    ? null
    : paragraph(`Together they explain ${percent(share)} of it, in rows that were left out of the fit.`);
}

/** What values a variable has. */
function kindOf(i) {
  const levels = data.levels[i],
    ordered = data.ordinal.includes(i) ? "ordered " : "";
  if (!levels) return small(data.continuous ? "Numeric." : "Numeric, or with many levels.");
  return small(`${counted(levels.length, `${ordered}level`)}: `, element("bdi", {}, levels.join(", ")));
}

/** The group of a node, and its rank by strength. */
function aboutGroup(node) {
  if (!nodes.groups) return null;
  const all = nodes.groups.strength,
    rank = 1 + all.filter((one) => one > all[node]).length,
    group = groupOf(node);
  return small(
    `The strengths of its edges add up to ${all[node].toFixed(2)}, rank ${rank} of ${all.length}.`,
    group === null ? null : [" Group: ", element("bdi", {}, nodes.groups.names[group]), "."],
  );
}

const VERDICTS = {
  associated: "Directly associated",
  "associated, undecided": "Associated in this network, but undecided",
  "associated, untested": "Directly associated, but untested",
  undecided: "Undecided: these data do not say",
  "not associated": "Not directly associated",
};

function aboutPair(k) {
  const posterior = logPosterior(k),
    support = known("support", k);
  return [
    element("h3", {}, toVariable(pairs.x[k]), " – ", toVariable(pairs.y[k])),
    paragraph(
      element("strong", {}, VERDICTS[finding(k)]),
      posterior === null
        ? null
        : element("span", { title: probability(posterior) }, `; posterior ${roughly(posterior)}`),
      support === null ? null : `; in ${percent(support)} of the resampled tables`,
    ),
    known("effect_in_words", k) ? paragraph(known("effect_in_words", k)) : null,
    known("untested", k)
      ? paragraph("Neither end could test it: with so many neighbours, too few rows are left.")
      : null,
    picture(k),
    isEdge(k) ? null : small("Effects and counts are kept for associations only; ibmap explain shows those of this pair."),
    (known("rivals", k) ?? []).map(([stays, comes, p]) =>
      paragraph(
        ...["Without it, ", named(stays), " might be associated with ", named(comes)],
        ` instead (probability ${p.toFixed(2)}).`,
      ),
    ),
    details(k),
  ];
}

/** What only some want to know: what each end says, the search, the counts. */
function details(k) {
  const [x, y] = [pairs.x[k], pairs.y[k]],
    differ = pairs.xy[k] !== null && Math.abs(pairs.xy[k] - pairs.yx[k]) > 1e-9;
  const seen = (i, j, log) => {
    const given = edgesOf[i].filter(isEdge).map((e) => other(e, i)),
      rest = given.filter((one) => one !== j).map(named);
    const how = rest.length ? [", given ", inARow(rest)] : ", without other neighbours";
    return paragraph("As ", named(i), " sees it", how, `: ${probability(log)}.`);
  };
  const all = [
    ...(differ ? [seen(x, y, pairs.xy[k]), seen(y, x, pairs.yx[k])] : []),
    ...steps(k).map((line) => paragraph(line)),
    ...(isEdge(k) ? countsOf(k) : []),
  ];
  return all.length ? element("details", {}, element("summary", {}, "Details"), all) : null;
}

/** What was known beforehand about a pair, and what the search did with it. */
function steps(k) {
  const same = ([x, y]) => (x === pairs.x[k] && y === pairs.y[k]) || (x === pairs.y[k] && y === pairs.x[k]);
  const told = ["required", "forbidden"].filter((kind) => data.given[kind].some(same));
  const taken = data.steps.flatMap((step, n) => (same(step) ? [[n + 1, ...step.slice(2)]] : []));
  return [
    ...told.map((kind) => `The edge was ${kind} beforehand.`),
    ...taken.map(
      ([n, added, gain]) =>
        `Step ${n} of ${data.steps.length} of the search ${added ? "added" : "removed"} it: ` +
        `the score ${gain < 0 ? "fell" : "rose"} by ${Math.abs(gain).toPrecision(3)}.`,
    ),
  ];
}
