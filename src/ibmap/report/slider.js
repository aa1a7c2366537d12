// The slider: its scale, where it begins, and what it says.

const LOWEST = -2.1; // a posterior of 0.0001, on the scale of evidence()
const STEPS = 200;

/** Set the ends of the slider for what it measures, and put it where all edges are seen. */
function layOutSlider() {
  const slider = at("threshold");
  slider.disabled = !measured() || !pairs.x.length;
  if (slider.disabled) {
    at("bound").textContent = "any";
    return;
  }
  const support = state.measure === "support";
  const least = (which, start) => which.reduce((low, k) => Math.min(low, weight(k)), start);
  const low = support ? 0 : Math.max(LOWEST, least(everyPair, 0));
  const high = support ? 1 : everyPair.reduce((high, k) => Math.max(high, weight(k)), 1);
  const start = least(
    everyPair.filter((k) => pairs.edge[k]),
    support ? 0.5 : 0,
  );
  slider.min = low;
  slider.max = high;
  slider.step = (high - low) / STEPS;
  slider.value = Math.max(low, Math.floor((start - low) / slider.step) * slider.step + low);
  slider.setAttribute("aria-label", `Least ${state.measure} that is shown`);
  readSlider();
}

function readSlider() {
  const slider = at("threshold"),
    place = Number(slider.value),
    support = state.measure === "support";
  const lowest = place <= Number(slider.min) + 1e-9;
  state.bound = lowest ? -Infinity : place - 1e-9; // the browser rounds to its steps
  const words = lowest ? "0" : support ? percent(place) : probability(posteriorAt(place));
  at("bound").textContent = words;
  slider.setAttribute("aria-valuetext", `${state.measure} of at least ${words}`);
}
