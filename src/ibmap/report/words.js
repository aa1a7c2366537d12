// What the page knows, numbers in words, and elements without innerHTML: a name is always text.

const data = JSON.parse(document.getElementById("content").textContent);
const { pairs, nodes } = data;
const everyPair = pairs.x.map((_, k) => k);
const isEdge = (k) => k < data.n_listed;
/** What is known of a pair by this name; null if nothing. */
const known = (name, k) => pairs[name]?.[k] ?? null;
const edgesOf = data.names.map(() => []);
everyPair.forEach((k) => {
  edgesOf[pairs.x[k]].push(k);
  edgesOf[pairs.y[k]].push(k);
});

const state = {
  strength: 0,
  posterior: -Infinity,
  support: 0,
  undecided: false,
  groups: false,
  around: null, // the node in the middle of a neighbourhood; null: the whole network
  picked: null, // { kind: "variable" or "pair", index }
};

const at = (id) => document.getElementById(id);
const counted = (n, noun, nouns = `${noun}s`) => `${n.toLocaleString("en")} ${n === 1 ? noun : nouns}`;
const other = (k, i) => (pairs.x[k] === i ? pairs.y[k] : pairs.x[k]);
const label = (k) => `${data.names[pairs.x[k]]} – ${data.names[pairs.y[k]]}`;
const short = (name, longest) => {
  const letters = [...name.replace(/\s+/g, " ").trim()];
  return letters.length <= longest ? letters.join("") : `${letters.slice(0, longest - 1).join("")}…`;
};

/** Fill an element: fill(row, { class: "number", onclick: act }, "text", otherElement). */
function fill(made, attributes, ...children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [key, text] of Object.entries(value)) made.style.setProperty(key, text);
    else if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}
const element = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, ...children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, ...children);

const named = (i) => element("bdi", {}, data.names[i]);
const link = (what, act) => element("button", { type: "button", class: "link", onclick: act }, what);
const toVariable = (i) => link(named(i), () => pick("variable", i, true));
const toPair = (k, ...what) => link(what, () => pick("pair", k, true));
const paragraph = (...what) => element("p", {}, ...what);
const small = (...what) => element("p", { class: "faint" }, ...what);
const inARow = (parts) => parts.flatMap((part, n) => (n ? [", ", part] : [part]));

/** The log posterior of an edge: the mean of what its two ends say; null for learners that only decide. */
const logPosterior = (k) => (pairs.xy[k] === null ? null : (pairs.xy[k] + pairs.yx[k]) / 2);
const hasPosteriors = pairs.xy.some((log) => log !== null);

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

/** The same in two digits, for a glance; the table and the tip have all of it. */
function roughly(logP) {
  if (logP === null) return "–";
  const p = Math.exp(logP);
  return p > 0.995 ? "> 0.99" : p < 0.005 ? "< 0.01" : p.toFixed(2);
}

const hasEffects = data.effect_numbers.length > 0;
/** The strength of an edge, from 0 to 1; null if it is not known. */
const strength = (k) => {
  const size = hasEffects ? known("strength", k) : null;
  return size === null ? null : Math.min(1, Math.abs(size));
};
const byStrength = (a, b) => (strength(b) ?? -1) - (strength(a) ?? -1) || a - b;
const signOf = (k) => ["negative", "unsigned", "positive"][1 + (hasEffects ? Math.sign(known("sign", k) ?? 0) : 0)];
const signMark = (k) => ({ negative: "−", unsigned: "", positive: "+" })[signOf(k)];

const between = (logP) => logP !== null && logP >= data.undecided[0] && logP <= data.undecided[1];
const isUndecided = (k) => !isEdge(k) && between(logPosterior(k));
/** What was found about a pair. */
const finding = (k) =>
  known("untested", k)
    ? "associated, untested"
    : isEdge(k)
      ? between(logPosterior(k))
        ? "associated, undecided"
        : "associated"
      : isUndecided(k)
        ? "undecided"
        : "not associated";
const isPair = (k) => state.picked?.kind === "pair" && state.picked.index === k;

/** Whether a pair is strong and sure enough for what was asked for. */
const passes = (k) =>
  (strength(k) ?? (state.strength > 0 ? -1 : 0)) >= state.strength &&
  (logPosterior(k) ?? 0) >= state.posterior &&
  (known("support", k) ?? 0) >= state.support;

/** Whether a pair is drawn. */
const isShown = (k) => isPair(k) || ((isEdge(k) || (state.undecided && isUndecided(k))) && passes(k));

const tip = (k) =>
  [
    `${label(k)}: ${finding(k)}`,
    pairs.xy[k] === null ? null : `posterior ${probability(logPosterior(k))}`,
    hasEffects ? known("effect", k) : null,
  ]
    .filter(Boolean)
    .join(", ");
