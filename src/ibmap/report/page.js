// The controls, and what one change brings about.

let opener = null; // what had the focus before the panel

/** Pick a variable, a pair, or nothing; the focus goes to the panel if it was there, or is asked to. */
function pick(kind, index, enter = false) {
  const inside = at("panel").contains(document.activeElement);
  if (!inside) opener = document.activeElement;
  state.picked = kind === null ? null : { kind, index };
  if (kind !== null) centre();
  draw();
  showPanel();
  markRow();
  if (kind === null && inside) opener.focus();
  else if (inside || enter) at("panel").focus();
}

function tapped(kind, x, y) {
  const meant = kind === "network" ? underFinger(x, y) : kind === "heat" ? underCell(x, y) : flippedAt(x);
  pick(meant?.kind ?? null, meant?.index);
}

window.ibmapReport = { tapped, nameAt, state, models };

function setView(view) {
  state.view = view;
  for (const name of ["network", "heat"]) at(name).hidden = name !== view;
  document.querySelector(`#views input[value="${view}"]`).checked = true;
  draw();
}

/** Show a theme, or that of the system. */
function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  repaint();
}

const isDark = () =>
  (document.documentElement.dataset.theme ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function repaint() {
  at("theme").textContent = isDark() ? "light" : "dark";
  dress();
  drawScores();
  drawHistogram();
  draw();
}

function listen() {
  at("threshold").addEventListener("input", () => {
    readSlider();
    draw();
  });
  at("misses").addEventListener("change", (event) => {
    state.misses = event.target.checked;
    draw();
  });
  at("measure")?.addEventListener("change", (event) => {
    state.measure = event.target.value;
    layOutSlider();
    draw();
  });
  at("views").addEventListener("change", (event) => setView(event.target.value));
  at("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  at("find").addEventListener("input", (event) => find(event.target, (name, text) => name === text));
  at("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter")
      find(event.target, (name, text) => name.toLowerCase().includes(text.toLowerCase()), true);
  });
  at("in").addEventListener("click", () => zoom(1 / 1.4));
  at("out").addEventListener("click", () => zoom(1.4));
  at("whole").addEventListener("click", showWhole);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pick(null);
  });
  for (const name of ["network", "heat"]) engage(name);
  let before; // paper is white
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    setTheme("light");
  });
  addEventListener("afterprint", () => setTheme(before));
}

/** Pick the first variable whose name is meant by the text in a field; mark the field if there is none. */
function find(field, meant, sure = false) {
  const i = field.value ? data.names.findIndex((name) => meant(name, field.value)) : -1;
  if (i >= 0) {
    pick("variable", i);
    approach(i);
  }
  field.setAttribute("aria-invalid", sure && field.value !== "" && i < 0);
}

/** Let a figure take keys, wheel and fingers when it has the focus: until then they scroll the page. */
function engage(name) {
  const figure = at(name),
    fingers = matchMedia("(pointer: coarse)").matches;
  const grip = (held, dragged = held || !fingers) => {
    models[`${name} wheel`].active = held; // this one pinches, too
    models[`${name} pan`].active = dragged;
  };
  grip(false);
  figure.addEventListener("keydown", steer);
  figure.addEventListener("focusin", () => grip(true));
  figure.addEventListener("focusout", () => grip(false));
  const turned = (event) => grip(event.ctrlKey || figure.contains(document.activeElement));
  figure.addEventListener("wheel", turned, { capture: true, passive: true });
}

function steer(event) {
  const acts = {
    ArrowLeft: () => move(0, -0.1),
    ArrowRight: () => move(0, 0.1),
    ArrowUp: () => move(1, 0.1),
    ArrowDown: () => move(1, -0.1),
    "+": () => zoom(1 / 1.4),
    "=": () => zoom(1 / 1.4),
    "-": () => zoom(1.4),
    0: showWhole,
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

const CROWDED = 60; // variables

/** Show near misses at first only if there are few of them and of variables, or nothing else. */
function fewMisses() {
  if (data.names.length > CROWDED && data.n_edges) return false;
  return allMisses <= Math.max(10, data.n_edges / 2) || !data.n_edges;
}

let waiting = false;
/** Draw once, however much the view has moved until the next frame: other names may fit then. */
function drawSoon() {
  if (!waiting)
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  waiting = true;
}

async function begin() {
  const figures = JSON.parse(at("figures").textContent);
  await Promise.all(Object.values(figures).map((item) => Bokeh.embed.embed_item(item)));
  findModels();
  if (!data.places) at("views").hidden = true;
  at("bounded").hidden = !hasPosteriors && !data.has_support; // there is nothing to slide on
  at("missed").hidden = !hasPosteriors;
  if (!data.has_support) at("measure").replaceWith("posterior");
  at("variables").append(...data.names.slice(0, 3000).map((name) => element("option", { value: name })));
  layOutSlider();
  state.misses = measured() && fewMisses();
  at("misses").checked = state.misses;
  for (const view of ["heat", "network"]) {
    state.view = view;
    if (data.places || view === "heat") showWhole();
  }
  state.view = data.places && data.names.length <= data.preferred ? "network" : "heat";
  setView(state.view);
  listen();
  beginGroups();
  if (data.places) beginDragging();
  repaint();
  showPanel();
  beginTable();
  for (const axis of ["network x", "network y", "heat x", "heat y"]) models[axis].change.connect(drawSoon);
  for (const plot of ["network plot", "heat plot"])
    models[plot].properties.inner_width.change.connect(drawSoon);
  document.documentElement.dataset.ready = "yes";
}

begin();
