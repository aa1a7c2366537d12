// The controls, and what one change brings about.

const PREFERRED = 100; // variables up to which the whole network is drawn first
let opener = null; // what had the focus before the panel

/** Pick a variable, a pair, or nothing; the focus goes to the panel if it was there, or is asked to. */
function pick(kind, index, enter = false) {
  const inside = at("panel").contains(document.activeElement);
  if (!inside) opener = document.activeElement;
  state.picked = kind === null ? null : { kind, index };
  draw();
  showPanel();
  markRow();
  if (kind === null && inside) opener?.focus();
  else if (inside || enter) at("panel").focus();
}

/** Draw the whole network, or what is around the variable that was picked, or that has most neighbours. */
function setAround(wanted) {
  const busiest = neighboursOf.reduce((best, next, node) => (next.length > neighboursOf[best].length ? node : best), 0);
  state.around = !wanted || !nodes.names.length ? null : state.picked ? nodes.of[pickedEnds()[0]] : busiest;
  at("around").checked = wanted;
  layOut();
  draw();
}

function refilter() {
  draw();
  listTable();
}

/** Pick the first variable whose name is meant by the text in a field; mark the field if there is none. */
function find(field, meant, sure = false) {
  const i = field.value ? data.names.findIndex((name) => meant(name, field.value)) : -1;
  if (i >= 0) {
    pick("variable", i);
    reveal();
  }
  field.setAttribute("aria-invalid", sure && field.value !== "" && i < 0);
}

/** Begin a control: whether it is of use, and what a change of it does. */
function control(name, useful, act) {
  at(name).closest("label").hidden = !useful;
  at(name).addEventListener("input", (event) => act(event.target));
}

function listen() {
  control("strength", hasEffects && data.n_edges > 0, (field) => {
    state.strength = Number(field.value);
    at("least").textContent = state.strength.toFixed(2);
    refilter();
  });
  control("posterior", hasPosteriors, (field) => {
    state.posterior = field.value === "0" ? -Infinity : Math.log(Number(field.value));
    refilter();
  });
  control("support", data.has_support, (field) => {
    state.support = Number(field.value);
    refilter();
  });
  control("undecided", everyPair.some(isUndecided), (field) => {
    state.undecided = field.checked;
    draw();
  });
  control("groups", nodes.groups?.names.length > 0, (field) => {
    state.groups = field.checked;
    listGroups();
    draw();
  });
  control("around", nodes.places && nodes.names.length > 12, (field) => setAround(field.checked));
  control("find", data.names.length > 5, (field) => find(field, (name, text) => name === text));
  at("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") find(event.target, (name, text) => name.toLowerCase().includes(text.toLowerCase()), true);
  });
  at("in").addEventListener("click", () => zoom(1 / 1.4));
  at("out").addEventListener("click", () => zoom(1.4));
  at("whole").addEventListener("click", showWhole);
  at("picture").addEventListener("click", saveDrawing);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pick(null);
  });
  let wide = at("network").clientWidth;
  new ResizeObserver(() => {
    if (at("network").clientWidth === wide) return;
    wide = at("network").clientWidth;
    layOut();
    draw();
  }).observe(at("network"));
}

function begin() {
  at("variables").append(...data.names.slice(0, 3000).map((name) => element("option", { value: name })));
  state.groups = at("groups").checked = Boolean(nodes.groups?.given);
  setAround(!nodes.places || nodes.names.length > PREFERRED);
  listGroups();
  listen();
  beginMoving();
  beginTable();
  showPanel();
  drawScores();
  document.documentElement.dataset.ready = "yes";
}

begin();
