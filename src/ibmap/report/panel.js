// The panel: the strongest associations, a variable and its neighbours, or a pair and what is known about it.

const STRONGEST = 10;

function showPanel() {
  const picked = state.picked;
  const filled = !picked ? overview() : picked.kind === "variable" ? aboutVariable(picked.index) : aboutPair(picked.index);
  const close = element("button", { type: "button", class: "close", "aria-label": "Close the details", onclick: () => pick(null) }, "×");
  at("panel").replaceChildren(...[...filled, picked ? close : null].filter((child) => child !== null));
  at("panel").classList.toggle("filled", picked !== null);
  at("panel").scrollTop = 0;
  at("said").textContent = !picked ? "" : picked.kind === "pair" ? tip(picked.index)
    : `${data.names[picked.index]}: ${counted(data.degrees[picked.index], "direct association")}`;
}

/** What is shown while nothing is picked. */
function overview() {
  const alone = data.degrees.filter((n) => n === 0).length,
    strongest = onePerLine(everyPair.filter(isEdge)).sort(byStrength).slice(0, STRONGEST);
  return [
    element("h3", {}, hasEffects ? "The strongest associations" : "The surest associations"),
    strongest.length ? pairList(strongest) : element("p", {}, "There are none."),
    alone ? small(`${counted(alone, "variable")} without any direct association.`) : null,
    small("Pick a name or a line in the drawing, or a row, to see more about it."),
  ];
}

/** Pairs as a list, the strength of each as a bar; of one variable, only their other ends. */
function pairList(which, i = null) {
  const more = (k, ...what) => link(what, () => pick("pair", k, true));
  return element("ul", {}, which.map((k) =>
    element("li", {},
      i === null ? more(k, named(pairs.x[k]), " – ", named(pairs.y[k])) : toVariable(other(k, i)),
      hasPosteriors ? element("small", { title: `posterior ${probability(logPosterior(k))}` }, `posterior ${roughly(logPosterior(k))}`) : element("small"),
      hasEffects ? element("div", {}, strengthBar(k), i === null ? known("effect", k) : more(k, known("effect", k) || "more")) : i === null ? null : more(k, "more"))));
}

function aboutVariable(i) {
  const levels = data.levels[i],
    edges = edgesOf[i].filter(isEdge).sort(byStrength),
    close = edgesOf[i].filter(isUndecided).slice(0, 5),
    cut = data.degrees[i] - edges.length,
    copies = nodesOf[nodes.of[i]].filter((one) => one !== i);
  const kind = levels
    ? `${counted(levels.length, `${data.ordinal.includes(i) ? "ordered " : ""}level`)}: `
    : data.continuous ? "A number." : "A number, or many levels.";
  return [
    element("h3", {}, named(i)),
    element("p", { class: "faint" }, kind, levels ? element("bdi", {}, levels.join(", ")) : null),
    copies.length ? element("p", {}, "The same in all rows, up to the names of levels: ", ...copies.flatMap((one, n) => [n ? ", " : "", toVariable(one)]), ".") : null,
    edges.length
      ? element("p", {}, `${counted(data.degrees[i], "direct association")}. Once ${data.degrees[i] === 1 ? "this variable is" : "these variables are"} known, the others say nothing more about it.`)
      : element("p", {}, "No direct association: in this network it is independent of all other variables."),
    edges.length ? pairList(edges, i) : null,
    cut ? small(`${counted(cut, "more association")} of it are not on this page.`) : null,
    close.length
      ? element("p", {}, "Undecided, with their posteriors: ",
          ...close.flatMap((k, n) => [n ? ", " : "", link(named(other(k, i)), () => pick("pair", k, true)), ` ${roughly(logPosterior(k))}`]), ".")
      : null,
    aboutGroup(nodes.of[i]),
  ];
}

/** The group of a node, and its rank by strength. */
function aboutGroup(node) {
  if (!nodes.groups) return null;
  const all = nodes.groups.strength,
    rank = 1 + all.filter((one) => one > all[node]).length,
    group = groupOf(node);
  return element("p", { class: "faint" },
    `Its strengths add up to ${all[node].toFixed(2)}: number ${rank} of ${all.length}.`,
    group === null ? null : " Group: ",
    group === null ? null : element("bdi", {}, nodes.groups.names[group]));
}

function aboutPair(k) {
  const [x, y] = [pairs.x[k], pairs.y[k]],
    posterior = logPosterior(k);
  return [
    element("h3", {}, toVariable(x), " – ", toVariable(y)),
    element("p", {},
      element("span", { class: `verdict ${isEdge(k) ? "yes" : ""}` }, verdict(k)),
      posterior === null ? null : element("span", { title: probability(posterior) }, `; posterior ${roughly(posterior)}`),
      known("support", k) === null ? null : `, in ${percent(known("support", k))} of the resampled tables`),
    hasEffects && known("effect_in_words", k) ? element("p", {}, known("effect_in_words", k)) : null,
    known("untested", k) ? element("p", {}, "Neither end could test it: too few rows are left among so many neighbours.") : null,
    ...picture(k),
    ...(known("rivals", k) ?? []).map(([stays, comes, p]) =>
      element("p", {}, "If it were not there, ", named(stays), " might be associated with ", named(comes), ` instead (probability ${p.toFixed(2)}).`)),
    details(k),
  ];
}

const verdict = (k) =>
  ({ "associated": "Directly associated", "associated, uncertain": "Directly associated, but not surely", "associated, untested": "Directly associated, but untested",
    "undecided": "Undecided: these data do not say", "not associated": "Not directly associated" })[finding(k)];

/** What only some want to know: what each end says, the search, the counts. */
function details(k) {
  const [x, y] = [pairs.x[k], pairs.y[k]],
    differ = pairs.xy[k] !== null && Math.abs(pairs.xy[k] - pairs.yx[k]) > 1e-9;
  const view = (i, j, log) => {
    const given = edgesOf[i].filter(isEdge).map((e) => other(e, i)).filter((one) => one !== j);
    return element("p", {}, "As ", named(i), " sees it",
      ...(given.length ? [", given ", ...given.flatMap((one, n) => [n ? ", " : "", named(one)])] : [", without other neighbours"]),
      ": ", element("span", { class: "number" }, `${probability(log)}.`));
  };
  const found = [
    ...(differ ? [view(x, y, pairs.xy[k]), view(y, x, pairs.yx[k])] : []),
    ...steps(k).map((line) => element("p", {}, line)),
    ...(isEdge(k) ? countsOf(k) : []),
  ];
  return found.length ? element("details", {}, element("summary", {}, "Details"), ...found) : null;
}

/** What was known beforehand about a pair, and what the search did with it. */
function steps(k) {
  const same = ([x, y]) => (x === pairs.x[k] && y === pairs.y[k]) || (x === pairs.y[k] && y === pairs.x[k]);
  return [
    ...["required", "forbidden"].filter((kind) => data.given[kind].some(same)).map((kind) => `The edge was ${kind} beforehand.`),
    ...data.steps.flatMap((step, n) =>
      same(step) ? [`Step ${n + 1} of ${data.steps.length} of the search ${step[2] ? "added" : "removed"} it: the score ${step[3] < 0 ? "fell" : "rose"} by ${Math.abs(step[3]).toPrecision(3)}.`] : []),
  ];
}
