// The controls, and what one change brings about.

function pick(kind, index) {
  state.picked = kind === null ? null : { kind, index };
  if (kind === "variable") centreOn(index);
  draw();
  showPanel();
  markRow();
}

function tapped(kind, x, y) {
  const meant = kind === "network" ? underFinger(x, y) : kind === "heat" ? underCell(x, y) : flippedAt(x);
  pick(meant?.kind ?? null, meant?.index);
}

window.ibmapReport = { tapped, nameAt, state, models };

/** Set the ends of the slider for what it measures, and put it where all edges are seen. */
function layOutSlider() {
  const slider = at("threshold");
  slider.disabled = !measured() || !pairs.x.length;
  if (slider.disabled) {
    at("bound").textContent = "any";
    return;
  }
  const support = state.measure === "support";
  const edges = everyPair.filter((k) => pairs.edge[k]).map(weight);
  const all = everyPair.map(weight);
  const low = support
      ? 0
      : Math.max(
          -2.1,
          all.reduce((a, b) => Math.min(a, b), 0),
        ),
    high = support ? 1 : all.reduce((a, b) => Math.max(a, b), 1);
  const start = edges.reduce((a, b) => Math.min(a, b), support ? 0.5 : 0);
  slider.min = low;
  slider.max = high;
  slider.step = (high - low) / 200;
  slider.value = Math.floor((start - low) / slider.step) * slider.step + low;
  readSlider();
}

function readSlider() {
  const slider = at("threshold"),
    place = Number(slider.value),
    support = state.measure === "support";
  const lowest = place <= Number(slider.min) + 1e-9;
  state.bound = lowest ? -Infinity : place;
  const words = lowest ? "0" : support ? percent(place) : probability(posteriorAt(place));
  at("bound").textContent = words;
  slider.setAttribute("aria-valuetext", `${state.measure} of at least ${words}`);
}

function setView(view) {
  state.view = view;
  for (const name of ["network", "heat"]) at(name).hidden = name !== view;
  document.querySelector(`#views input[value="${view}"]`).checked = true;
  draw();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  at("theme").textContent = theme === "dark" ? "light" : "dark";
  repaint();
}

const isDark = () =>
  (document.documentElement.dataset.theme ??
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function repaint() {
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
  at("find").addEventListener("input", (event) => {
    const i = data.names.indexOf(event.target.value);
    if (i >= 0) pick("variable", i);
  });
  at("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") findFirst(event.target.value);
  });
  at("search").addEventListener("input", (event) => {
    listing.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    listing.limit = ROWS;
    listTable();
  });
  at("more").addEventListener("click", () => {
    listing.limit += ROWS;
    listTable();
  });
  at("in").addEventListener("click", () => zoom(1 / 1.4));
  at("out").addEventListener("click", () => zoom(1.4));
  at("whole").addEventListener("click", showWhole);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pick(null);
  });
  for (const name of ["network", "heat"]) at(name).addEventListener("keydown", steer);
}

/** The first variable whose name holds the text. */
function findFirst(text) {
  const i = data.names.findIndex((name) => name.toLowerCase().includes(text.toLowerCase()));
  if (text && i >= 0) pick("variable", i);
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

/** Show near misses at first only if there are few of them. */
function fewMisses() {
  return (
    everyPair.filter((k) => !pairs.edge[k] && logPosterior(k) >= -Math.LN2).length <=
    Math.max(10, data.n_edges / 2)
  );
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
  for (const name of Object.keys(figures)) await Bokeh.embed.embed_item(figures[name]);
  findModels();
  if (!data.places) at("views").hidden = true;
  if (!data.has_support) at("measure").replaceWith("posterior");
  at("variables").append(...data.names.slice(0, 3000).map((name) => element("option", { value: name })));
  at("theme").textContent = isDark() ? "light" : "dark";
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
  repaint();
  showPanel();
  drawHeads();
  listTable();
  for (const axis of ["network x", "network y", "heat x", "heat y"]) models[axis].change.connect(drawSoon);
  for (const plot of ["network plot", "heat plot"])
    models[plot].properties.inner_width.change.connect(drawSoon);
  document.documentElement.dataset.ready = "yes";
}

begin();
