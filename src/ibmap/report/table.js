// The table of all pairs: sorted by a click on a head, searched by words, drawn a few hundred rows at a time.

const ROWS = 200;
const ascentOf = new Map(data.steps.map(([x, y], n) => [`${Math.min(x, y)} ${Math.max(x, y)}`, n + 1]));
const ascent = (k) =>
  ascentOf.get(`${Math.min(pairs.x[k], pairs.y[k])} ${Math.max(pairs.x[k], pairs.y[k])}`) ?? null;

const posteriorColumns = [
  {
    head: "posterior",
    hint: "probability of an edge: the geometric mean of the next two",
    value: logPosterior,
    text: (k) => probability(logPosterior(k)),
  },
  {
    head: "seen from x",
    hint: "probability that x depends on y, given the other neighbours of x",
    value: (k) => pairs.xy[k],
    text: (k) => probability(pairs.xy[k]),
  },
  {
    head: "seen from y",
    hint: "probability that y depends on x, given the other neighbours of y",
    value: (k) => pairs.yx[k],
    text: (k) => probability(pairs.yx[k]),
  },
];
const supportColumn = {
  head: "support",
  hint: "share of the bootstrap replicates that have the edge",
  value: (k) => pairs.support[k],
  text: (k) => percent(pairs.support[k]),
};
const effectColumn = {
  head: "effect",
  hint: data.continuous
    ? "partial correlation: that of the two variables given all others"
    : "odds ratio of two binary variables (95 %), Cramér's V of others, everything else equal",
  value: (k) => pairs.strength[k],
  text: (k) => pairs.effect[k] || "–",
};
const ascentColumn = {
  head: "ascent",
  hint: "step of the search that flipped the pair last",
  value: ascent,
  text: (k) => ascent(k) ?? "–",
};
const columns = [
  { head: "kind", value: kindInWords, text: kindInWords, words: true },
  { head: "x", value: (k) => data.names[pairs.x[k]], show: (k) => named(pairs.x[k]), words: true },
  { head: "y", value: (k) => data.names[pairs.y[k]], show: (k) => named(pairs.y[k]), words: true },
  ...(hasPosteriors ? posteriorColumns : []),
  ...(data.has_effects ? [effectColumn] : []),
  ...(data.has_support ? [supportColumn] : []),
  ...(data.searched ? [ascentColumn] : []),
];

const listing = { sorted: null, falling: false, words: [], limit: ROWS };
const inWords = new Intl.Collator("en", { numeric: true });
const haystacks = everyPair.map((k) => `${label(k)} ${kindInWords(k)}`.toLowerCase());

function compare(column) {
  const sign = listing.falling ? -1 : 1;
  return (a, b) => {
    const [one, two] = [column.value(a), column.value(b)];
    if (one === null || two === null) return (one === null) - (two === null) || a - b; // unknown ones last
    return sign * (column.words ? inWords.compare(one, two) : one - two) || a - b;
  };
}

/** The pairs that were searched for, sorted. */
function found() {
  const matching = everyPair.filter((k) => listing.words.every((word) => haystacks[k].includes(word)));
  return listing.sorted ? matching.sort(compare(listing.sorted)) : matching;
}

function listTable() {
  const all = found(),
    shown = all.slice(0, listing.limit);
  at("pairs").tBodies[0].replaceChildren(...shown.map(tableRow));
  at("more").hidden = shown.length === all.length;
  at("listed").textContent = pairs.x.length
    ? `${shown.length.toLocaleString("en")} of ${counted(all.length, "pair")}`
    : "There are no edges and no near misses.";
}

function tableRow(k) {
  const cells = columns.map((column, n) => {
    const what = column.show ? column.show(k) : String(column.text(k));
    return element(
      "td",
      { class: column.words ? (n ? "name" : "kind") : "number" },
      n ? what : link(what), // its click is that of the row
    );
  });
  return element(
    "tr",
    {
      class: `${pairs.edge[k] ? "edge" : isMiss(k) ? "miss" : ""}${isPair(k) ? " picked" : ""}`,
      "data-pair": k,
      onclick: (event) => pick("pair", k, event.detail === 0), // 0: by keyboard
    },
    ...cells,
  );
}

function sortBy(column) {
  listing.falling = listing.sorted === column ? !listing.falling : !column.words && column.head !== "ascent";
  listing.sorted = column;
  drawHeads();
  listTable();
}

function drawHeads() {
  const heads = columns.map((column) =>
    element(
      "th",
      {
        class: column.words ? "" : "number",
        scope: "col",
        "aria-sort": listing.sorted !== column ? "none" : listing.falling ? "descending" : "ascending",
      },
      element(
        "button",
        {
          type: "button",
          title: column.hint ?? "",
          onclick: () => {
            sortBy(column);
            at("pairs").querySelectorAll("th button")[columns.indexOf(column)].focus();
          },
        },
        column.head,
      ),
    ),
  );
  at("pairs").tHead.rows[0].replaceChildren(...heads);
}

function markRow() {
  for (const row of at("pairs").tBodies[0].rows) {
    row.classList.toggle("picked", isPair(Number(row.dataset.pair)));
  }
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
  at("save").addEventListener("click", saveTable);
  drawHeads();
  listTable();
}
