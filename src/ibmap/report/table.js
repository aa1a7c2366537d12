// The table of pairs: sorted by a click on a head, searched by words, drawn a few hundred rows at a time.

const ROWS = 200;
const strengthCell = (k) =>
  strength(k) === null ? "–" : [strengthBar(k), `${signMark(k)}${strength(k).toFixed(2)}`];
const columns = [
  { head: "variable", value: (k) => data.names[pairs.x[k]], text: (k) => named(pairs.x[k]), words: true },
  { head: "and", value: (k) => data.names[pairs.y[k]], text: (k) => named(pairs.y[k]), words: true },
  ...(hasEffects
    ? [
        { head: "strength", value: strength, text: strengthCell },
        { head: "effect", value: strength, text: (k) => known("effect", k) || "–" },
      ]
    : []),
  ...(hasPosteriors ? [{ head: "posterior", value: logPosterior, text: (k) => probability(logPosterior(k)) }] : []),
  ...(data.has_support
    ? [{ head: "support", value: (k) => known("support", k), text: (k) => percent(known("support", k)) }]
    : []),
  { head: "finding", value: finding, text: finding, words: true },
];

const listing = { sorted: null, falling: false, words: [], limit: ROWS };
const inWords = new Intl.Collator("en", { numeric: true });
const haystacks = everyPair.map((k) => `${label(k)} ${finding(k)}`.toLowerCase());

function compare({ value, words }) {
  const sign = listing.falling ? -1 : 1;
  return (a, b) => {
    const [one, two] = [value(a), value(b)];
    if (one === null || two === null) return (one === null) - (two === null) || a - b; // unknown ones last
    return sign * (words ? inWords.compare(one, two) : one - two) || a - b;
  };
}

/** The pairs that were searched for and are strong and sure enough, sorted. */
function found() {
  const matching = everyPair.filter((k) => passes(k) && listing.words.every((word) => haystacks[k].includes(word)));
  return listing.sorted ? matching.sort(compare(listing.sorted)) : matching;
}

function listTable() {
  const all = found(),
    shown = all.slice(0, listing.limit);
  at("pairs").tBodies[0].replaceChildren(...shown.map(tableRow));
  at("more").hidden = shown.length === all.length;
  at("listed").textContent = pairs.x.length
    ? `${shown.length.toLocaleString("en")} of ${counted(all.length, "pair")}`
    : "There are no associations and no pairs that come close.";
}

function tableRow(k) {
  const look = { variable: "name", and: "name", support: "number", posterior: "number" };
  const cells = columns.map(({ head, text }, n) =>
    element("td", { class: look[head] ?? head }, n ? text(k) : link(text(k), () => {})), // its click is the row's
  );
  const kind = isEdge(k) ? "edge" : isUndecided(k) ? "undecided" : "none",
    act = (event) => pick("pair", k, event.detail === 0); // 0: by keyboard
  return element("tr", { class: `${kind}${isPair(k) ? " picked" : ""}`, "data-pair": k, onclick: act }, cells);
}

function sortBy(column) {
  listing.falling = listing.sorted === column ? !listing.falling : !column.words;
  listing.sorted = column;
  drawHeads();
  listTable();
  at("pairs").querySelectorAll("th button")[columns.indexOf(column)].focus();
}

function drawHeads() {
  const heads = columns.map((column) =>
    element("th",
      { scope: "col", "aria-sort": listing.sorted !== column ? "none" : listing.falling ? "descending" : "ascending" },
      element("button", { type: "button", onclick: () => sortBy(column) }, column.head)),
  );
  at("pairs").tHead.rows[0].replaceChildren(...heads);
}

function markRow() {
  for (const row of at("pairs").tBodies[0].rows) row.classList.toggle("picked", isPair(Number(row.dataset.pair)));
}

function beginTable() {
  at("search").addEventListener("input", (event) => {
    listing.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    listing.limit = ROWS;
    listTable();
  });
  at("more").addEventListener("click", () => {
    listing.limit += ROWS;
    listTable();
  });
  at("save").addEventListener("click", () => save(asCsv(), "text/csv", "pairs.csv"));
  drawHeads();
  listTable();
}
