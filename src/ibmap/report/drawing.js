// The drawing: a line for each pair that is shown, a frame with its name for each variable, hulls of groups.

/** How wide a line is drawn. */
const widthOf = (k) => 1.4 + 9 * (strength(k) ?? (hasEffects ? 0 : 0.2));

/** The variables that were picked: one, or both ends of a pair. */
function pickedEnds() {
  if (!state.picked) return [];
  const { kind, index } = state.picked;
  return kind === "variable" ? [index] : [pairs.x[index], pairs.y[index]];
}

const ends = (k) => [nodes.of[pairs.x[k]], nodes.of[pairs.y[k]]];
const isDrawn = (k) => ends(k).every((node) => plan.boxes.has(node));
/** Whether a line is drawn as uncertain; copies of a variable share its posterior. */
const isUncertain = (k) =>
  hasPosteriors &&
  logPosterior(k) + ends(k).reduce((log, node) => log + Math.log(nodesOf[node].length), 0) <= data.undecided[1];

/** The first pair of each two nodes, or the picked one; copies of a variable have the same edges. */
function onePerLine(which) {
  const found = new Map();
  for (const k of which.filter((k) => ends(k)[0] !== ends(k)[1])) {
    const key = ends(k).sort((a, b) => a - b).join(" ");
    if (!found.has(key) || isPair(k)) found.set(key, k);
  }
  return [...found.values()];
}

function draw() {
  const centre = pickedEnds().map((i) => nodes.of[i]);
  if (state.around !== null && centre.length && !centre.every((node) => plan.boxes.has(node))) {
    state.around = centre[0];
    layOut();
  }
  const drawn = onePerLine(everyPair.filter((k) => isShown(k) && isDrawn(k))).sort((a, b) => -byStrength(a, b)),
    isNear = (k) =>
      !centre.length || (centre.length === 1 ? ends(k).includes(centre[0]) : isPair(k)),
    near = new Set([...centre, ...(centre.length === 1 ? drawn.filter(isNear).flatMap(ends) : [])]);
  at("network").replaceChildren(
    svg("g", {}, state.groups && state.around === null ? hulls() : []),
    svg("g", {}, drawn.map((k) => drawLine(k, isNear(k)))),
    svg("g", {}, [...plan.boxes.values()].map((box) => drawName(box, !near.size || near.has(box.node), centre))),
  );
  const count = (which) => everyPair.filter((k) => which(k) && isShown(k) && isDrawn(k)).length.toLocaleString("en");
  const listed = everyPair.filter(isUndecided).length;
  at("shown").textContent =
    `${count(isEdge)} of ${counted(data.n_edges, "association")} shown` +
    (state.undecided ? `, ${count(isUndecided)} of ${counted(listed, "undecided pair")}` : "");
  at("whereabouts").hidden = state.around === null;
  if (state.around !== null)
    at("whereabouts").replaceChildren(
      nodes.places ? "" : `${counted(nodes.names.length, "variable")} are too many to draw at once. `,
      "Drawn: ",
      element("bdi", {}, nodes.names[state.around]),
      ` and the closest of the variables within two steps of it. Pick another one to see its surroundings.`,
    );
}

function drawLine(k, near) {
  const line = route(...ends(k)),
    kind = !isEdge(k) ? "undecided" : isUncertain(k) ? `${signOf(k)} uncertain` : signOf(k),
    opacity = near ? 0.5 + 0.45 * (strength(k) ?? 0.6) : 0.15;
  return svg(
    "g",
    { class: `line ${kind} ${isPair(k) ? "picked" : ""}`, "data-pair": k },
    svg("title", {}, tip(k)),
    svg("path", { class: "seen", d: line, "stroke-width": widthOf(k).toFixed(1), opacity }),
    svg("path", { class: "reach", d: line }),
  );
}

function drawName({ node, text, x, y, w, h }, near, centre) {
  const group = state.groups ? groupOf(node) : null;
  return svg(
    "g",
    {
      class: `name ${near ? "" : "dim"} ${centre.includes(node) ? "picked" : ""}`,
      "data-node": node,
      transform: `translate(${x} ${y})`,
    },
    svg("title", {}, `${nodes.names[node]}: ${counted(neighboursOf[node].length, "direct association")}`),
    svg("rect", {
      x: -w / 2,
      y: -h / 2,
      width: w,
      height: h,
      rx: h / 2,
      style: group === null ? {} : { stroke: groupColour(group) },
    }),
    svg("text", { y: "0.35em" }, text),
  );
}
