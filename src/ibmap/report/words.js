// What the page knows, numbers in words (as on the command line), and elements without innerHTML: a name is always text.

const data = JSON.parse(document.getElementById("content").textContent);
const pairs = data.pairs;
const everyPair = pairs.x.map((_, k) => k);
const edgesOf = data.names.map(() => []);
everyPair.forEach((k) => {
  edgesOf[pairs.x[k]].push(k);
  edgesOf[pairs.y[k]].push(k);
});

const state = { measure: "posterior", bound: -Infinity, misses: false, groups: false, view: "network", picked: null };

const at = (id) => document.getElementById(id);
const viewWidth = () => document.querySelector(".view").clientWidth;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const counted = (n, noun, nouns = `${noun}s`) => `${n.toLocaleString("en")} ${n === 1 ? noun : nouns}`;
const other = (k, i) => (pairs.x[k] === i ? pairs.y[k] : pairs.x[k]);
const blanket = (i) => edgesOf[i].filter((k) => pairs.edge[k]);
const label = (k) => `${data.names[pairs.x[k]]} - ${data.names[pairs.y[k]]}`;
const short = (name, longest = 24) => {
  const letters = [...name.replace(/\s+/g, " ")];
  return letters.length <= longest ? letters.join("") : `${letters.slice(0, longest - 1).join("")}…`;
};

/** Make an element: element("td", { class: "number" }, "text", otherElement). */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [key, text] of Object.entries(value)) made.style.setProperty(key, text);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const named = (i) => element("bdi", {}, data.names[i]);
const link = (what, act = () => {}) =>
  element("button", { type: "button", class: "link", onclick: act }, what);
const number = (text) => element("span", { class: "number" }, text);

/** The log posterior of an edge: the mean of the log posteriors of its two ends; null for learners that only decide. */
const logPosterior = (k) => (pairs.xy[k] === null ? null : (pairs.xy[k] + pairs.yx[k]) / 2);

function probability(logP) {
  if (logP === null) return "–";
  if (logP > -1e-3) {
    const rest = -Math.expm1(logP);
    return rest ? `1 - ${brief(rest)}` : "1";
  }
  if (logP < -1e200) return "0";
  if (logP < -600) return `e^${logP.toFixed(0)}`;
  const p = Math.exp(logP);
  return p >= 1e-3 ? p.toFixed(3) : brief(p);
}

const brief = (p) => p.toExponential(0).replace(/e-(\d)$/, "e-0$1");
const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)} %`);

/** Where a posterior stands on the scale of slider and histogram: log10 odds, squeezed at both ends. */
function evidence(logP) {
  const rest = logP > -Math.LN2 ? Math.log(-Math.expm1(logP)) : Math.log1p(-Math.exp(logP));
  const odds = (logP - rest) / Math.LN10;
  return Math.asinh(Math.min(320, Math.max(-320, odds)));
}

/** The posterior at a place of that scale, as a log. */
function posteriorAt(place) {
  const odds = Math.sinh(place) * Math.LN10;
  return odds > 0 ? -Math.log1p(Math.exp(-odds)) : odds - Math.log1p(Math.exp(odds));
}

/** What the slider compares: a place on its scale. */
function weight(k) {
  if (state.measure === "support") return pairs.support[k] ?? 0;
  return evidence(logPosterior(k));
}

/** How strong a pair is drawn, from 0 to 1. */
function strength(k) {
  const logP = logPosterior(k);
  if (logP === null) return pairs.support[k] ?? 0.5;
  return Math.min(1, Math.max(0, (Math.sinh(evidence(logP)) + 1) / 9));
}

/** The size of the effect of an edge as it is drawn, from 0 to 1; null if it is not known. */
const effectSize = (k) =>
  !data.has_effects || pairs.strength[k] === null ? null : Math.min(1, 1.5 * Math.abs(pairs.strength[k]));

/** The sign of the effect of an edge; 0 where there is none: a variable has levels without an order. */
const effectSign = (k) => (data.has_effects ? (pairs.sign[k] ?? 0) : 0);

const hasPosteriors = pairs.xy.some((log) => log !== null);
const measured = () => state.measure === "support" || hasPosteriors;
const isMiss = (k) => !pairs.edge[k] && logPosterior(k) >= -Math.LN2;
const kindOf = (k) => (pairs.edge[k] ? "edge" : isMiss(k) ? "near miss" : "not adjacent");
const kindInWords = (k) => `${pairs.untested[k] ? "untested " : ""}${kindOf(k)}`;
const isPair = (k) => state.picked?.kind === "pair" && state.picked.index === k;

/** Whether a pair is drawn: an edge, or a near miss, above the bound. */
function isShown(k) {
  if (isPair(k)) return true;
  if (!measured()) return pairs.edge[k];
  return (pairs.edge[k] || (state.misses && isMiss(k))) && weight(k) >= state.bound;
}

const tip = (k) =>
  `${label(k)}: ${kindInWords(k)}${pairs.xy[k] === null ? "" : `, posterior ${probability(logPosterior(k))}`}`;
