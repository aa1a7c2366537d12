// Groups of variables: a hull around each, its colour on the frames of its names.

const GROUP_COLOURS = ["#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d8c820", "#0072b2", "#d55e00", "#999999"]; // as plots/colours.py
const LISTED = 12; // groups that are listed below the drawing

const groupColour = (g) => GROUP_COLOURS[g % GROUP_COLOURS.length];
const groupOf = (node) => (nodes.groups && nodes.groups.of[node] >= 0 ? nodes.groups.of[node] : null);

function hulls() {
  return (nodes.groups?.names ?? []).map((name, g) => {
    const corners = [...plan.boxes.values()]
      .filter(({ node }) => groupOf(node) === g)
      .flatMap(({ x, y, w, h }) => [-1, 1].flatMap((a) => [-1, 1].map((b) => [x + (a * w) / 2, y + (b * h) / 2])));
    if (!corners.length) return null;
    const style = { fill: groupColour(g), stroke: groupColour(g) };
    return svg("path", { class: "hull", d: `M${hull(corners).join("L")}Z`, style }, svg("title", {}, name));
  });
}

/** The corners of the smallest convex area around points (Andrew 1979). */
function hull(points) {
  const sorted = [...points].sort(([a, b], [c, d]) => a - c || b - d);
  const half = (list) => {
    const found = [];
    for (const p of list) {
      while (found.length > 1 && turn(found.at(-2), found.at(-1), p) <= 0) found.pop();
      found.push(p);
    }
    return found.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}
const turn = ([ax, ay], [bx, by], [cx, cy]) => (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);

/** List the groups below the drawing. */
function listGroups() {
  const names = state.groups ? nodes.groups.names : [];
  const shown = names.slice(0, LISTED).map((name, g) =>
    element("span", {}, element("span", { class: "dot", style: { background: groupColour(g) } }), element("bdi", {}, name)),
  );
  const rest = names.length > LISTED ? [`and ${names.length - LISTED} more`] : [];
  at("listed-groups").replaceChildren(...shown, ...rest);
  at("listed-groups").hidden = !names.length;
}
