// Moving: zoom, drag the drawing or a name, and the keys of the drawing.

const view = { x: 0, y: 0, w: 1, h: 1 };

function look(x, y, w, h) {
  Object.assign(view, { x, y, w, h });
  at("network").setAttribute("viewBox", `${x} ${y} ${w} ${h}`);
  at("network").classList.toggle("zoomed", w < 0.99 * plan.width);
}
const showWhole = () => look(0, 0, plan.width, plan.height);

/** Zoom, so that a point stays where it is. */
function zoom(factor, [x, y] = [view.x + view.w / 2, view.y + view.h / 2]) {
  const by = Math.min(plan.width / view.w, Math.max(plan.width / view.w / 12, factor));
  look(x - (x - view.x) * by, y - (y - view.y) * by, view.w * by, view.h * by);
}

/** The point of the drawing that an event is at. */
function pointAt(event) {
  const box = at("network").getBoundingClientRect();
  return [
    view.x + ((event.clientX - box.left) / box.width) * view.w,
    view.y + ((event.clientY - box.top) / box.height) * view.h,
  ];
}

/** Pick what was clicked; where the mouse moved in between, what it held was moved instead. */
function beginMoving() {
  const figure = at("network");
  let held = null;
  figure.addEventListener("pointerdown", (event) => {
    const node = event.target.closest("[data-node]")?.dataset.node;
    const start = [event.clientX, event.clientY];
    held = { from: pointAt(event), start, box: plan.boxes.get(Number(node)), moved: false };
  });
  addEventListener("pointermove", (event) => {
    const zoomed = figure.classList.contains("zoomed");
    if (!held || (event.pointerType !== "mouse" && !zoomed)) return; // fingers scroll the page
    held.moved ||= Math.hypot(event.clientX - held.start[0], event.clientY - held.start[1]) > 4;
    if (!held.moved) return;
    const [x, y] = pointAt(event);
    if (held.box && event.pointerType === "mouse") {
      Object.assign(held.box, { x, y });
      plan.routes.clear();
      draw();
    } else look(view.x + held.from[0] - x, view.y + held.from[1] - y, view.w, view.h);
  });
  figure.addEventListener("pointerup", (event) => {
    const moved = held?.moved;
    held = null;
    if (moved) return;
    const [node, pair] = ["node", "pair"].map((kind) => event.target.closest(`[data-${kind}]`)?.dataset[kind]);
    if (node) pick("variable", nodesOf[node][0]);
    else if (pair) pick("pair", Number(pair));
    else pick(null);
    reveal();
  });
  for (const gone of ["pointercancel", "pointerup"]) addEventListener(gone, () => (held = null));
  figure.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return; // else it scrolls the page
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1 / 1.2 : 1.2, pointAt(event));
    },
    { passive: false },
  );
  figure.addEventListener("keydown", steer);
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Keys: arrows go from name to name, plus and minus zoom, Enter goes into the details. */
function steer(event) {
  const acts = { "+": () => zoom(1 / 1.4), "=": () => zoom(1 / 1.4), "-": () => zoom(1.4), 0: showWhole };
  if (ARROWS[event.key]) step(ARROWS[event.key]);
  else if (event.key === "Enter" && state.picked) at("panel").focus();
  else if (acts[event.key]) acts[event.key]();
  else return;
  event.preventDefault();
}

/** Pick the nearest name in a direction. */
function step([dx, dy]) {
  const boxes = [...plan.boxes.values()],
    from = state.picked ? plan.boxes.get(nodes.of[pickedEnds()[0]]) : null;
  const distance = ({ x, y }) => {
    const [along, aside] = [(x - from.x) * dx + (y - from.y) * dy, (x - from.x) * dy - (y - from.y) * dx];
    return along > 1 ? along + 2 * Math.abs(aside) : Infinity;
  };
  const best = from ? boxes.reduce((a, b) => (distance(b) < distance(a) ? b : a), from) : boxes[0];
  if (best && best !== from) pick("variable", nodesOf[best.node][0]);
  reveal();
}

/** Scroll to what was picked if it is out of sight, or under the panel of a narrow screen. */
function reveal() {
  const box = at("network").querySelector(".picked")?.getBoundingClientRect(),
    low = innerHeight * (matchMedia("(max-width: 60rem)").matches ? 0.5 : 1);
  if (box && (box.bottom > low || box.top < 0)) scrollBy(0, box.bottom - 0.8 * low);
}

/** Save the drawing as a picture of lines, with the colours that it has now. */
function saveDrawing() {
  const copy = at("network").cloneNode(true);
  const live = at("network").querySelectorAll("path, rect, text");
  const looks = ["fill", "stroke", "stroke-width", "opacity", "stroke-dasharray", "stroke-linejoin", "stroke-linecap"];
  copy.querySelectorAll("path, rect, text").forEach((part, n) => {
    const style = getComputedStyle(live[n]);
    for (const name of looks) part.setAttribute(name, style.getPropertyValue(name));
    if (part.tagName === "text") part.setAttribute("text-anchor", "middle");
  });
  copy.querySelectorAll(".reach").forEach((part) => part.remove());
  const box = at("network").getBoundingClientRect();
  fill(copy, { width: box.width, height: box.height, "font-family": "sans-serif", "font-size": plan.font });
  copy.removeAttribute("style");
  save(new XMLSerializer().serializeToString(copy), "image/svg+xml", "network.svg");
}

function save(text, type, name) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
