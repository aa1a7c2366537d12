// Groups of variables, told by colours; their strength.

const GROUP_COLOURS = ["#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#d8c820", "#0072b2", "#d55e00", "#999999"]; // as plots/colours.py
const LISTED = 12; // groups that are listed below the drawing

const groupColour = (g) => GROUP_COLOURS[g % GROUP_COLOURS.length];
const groupOf = (i) => (data.groups && data.groups.of[i] >= 0 ? data.groups.of[i] : null);
const nodeColour = (i, usual) => (state.groups && groupOf(i) !== null ? groupColour(groupOf(i)) : usual);

/** How large a variable is drawn: by its strength where groups are shown, else by its number of neighbours. */
function nodeSize(i) {
  if (!state.groups || !data.groups) return 6 + Math.min(8, data.degrees[i]);
  return 7 + 11 * Math.sqrt(data.groups.strength[i] / (Math.max(...data.groups.strength) || 1));
}

function beginGroups() {
  at("grouped").hidden = !data.groups || !data.places;
  state.groups = Boolean(data.groups?.given);
  at("groups").checked = state.groups;
  at("groups").addEventListener("change", (event) => {
    state.groups = event.target.checked;
    listGroups();
    draw();
  });
  listGroups();
}

/** List the groups below the drawing. */
function listGroups() {
  const names = state.groups ? data.groups.names : [];
  const shown = names.slice(0, LISTED).map((name, g) =>
    element("span", {}, element("span", { class: "dot", style: { background: groupColour(g) } }), element("bdi", {}, name)),
  );
  const rest = names.length > LISTED ? [`and ${names.length - LISTED} more`] : [];
  at("listed-groups").replaceChildren(...shown, ...rest);
  at("listed-groups").hidden = !names.length;
}

/** What is said about the strength and the group of a variable. */
function aboutGroup(i) {
  if (!data.groups) return null;
  const strength = data.groups.strength,
    rank = 1 + strength.filter((s) => s > strength[i]).length;
  const said = `Strength, that of its edges added up: ${strength[i].toFixed(2)}, number ${rank} of ${strength.length}.`;
  const group = groupOf(i) === null ? null : element("bdi", {}, data.groups.names[groupOf(i)]);
  return element("p", { class: "faint" }, said, group ? " Group: " : null, group);
}
