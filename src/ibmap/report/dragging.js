// Variables can be dragged to other places; a press beside them moves the drawing.

const HELD = 9, // pixels around a variable in which a press holds it
  STILL = 4, // pixels that a click may move
  SLOW = 400; // milliseconds after which a press is a click

/** The point of the drawing that an event is at. */
function pointAt(event) {
  const plot = models["network plot"],
    view = Bokeh.index.find_one(plot),
    box = view.el.getBoundingClientRect(),
    scale = scaleOf("network");
  return [
    models["network x"].start + (event.clientX - box.left - view.frame.bbox.left) / scale[0],
    models["network y"].end - (event.clientY - box.top - view.frame.bbox.top) / scale[1],
  ];
}

/** Let a mouse drag variables. Fingers do not: they scroll the page. */
function beginDragging() {
  const box = at("network");
  let held = null;
  const tell = (x, y) => {
    if (!held.moved && !held.told) window.ibmapReport.tapped("network", x, y);
    held.told = true;
  };
  const press = (event) => {
    if (event.button !== 0 || event.pointerType !== "mouse") return;
    const [x, y] = pointAt(event),
      pixels = inPixels(x, y),
      found = nearest([...data.names.keys()], (i) => Math.hypot(...pixels[i]), HELD);
    if (found === null) return;
    held = { i: found, from: [event.clientX, event.clientY], moved: false, told: false };
    const mine = held;
    setTimeout(() => mine === held && tell(x, y), SLOW);
    event.stopPropagation(); // bokeh would move the drawing
  };
  const follow = (event) => {
    if (!held) return;
    event.stopPropagation();
    const [x, y] = held.from;
    held.moved ||= Math.hypot(event.clientX - x, event.clientY - y) > STILL;
    if (!held.moved) return;
    data.places[held.i] = pointAt(event);
    drawSoon();
  };
  const release = (event) => {
    if (!held) return;
    event.stopPropagation();
    tell(...pointAt(event));
    held = null;
  };
  box.addEventListener("pointerdown", press, { capture: true });
  addEventListener("pointermove", follow, { capture: true });
  addEventListener("pointerup", release, { capture: true });
}
