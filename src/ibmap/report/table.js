// The table of all pairs: sorted by a click on a head, searched by words, drawn a few hundred rows at a time.

const ROWS = 200;
const ascentOf = new Map(data.steps.map(([x, y], n) => [`${Math.min(x, y)} ${Math.max(x, y)}`, n + 1]));
const ascent = (k) =>
  ascentOf.get(`${Math.min(pairs.x[k], pairs.y[k])} ${Math.max(pairs.x[k], pairs.y[k])}`) ?? null;
const kindOf = (k) => (pairs.edge[k] ? "edge" : "near miss");

const columns = [
  { head: "kind", value: kindOf, text: kindOf, words: true },
  { head: "x", value: (k) => data.names[pairs.x[k]], show: (k) => named(pairs.x[k]), words: true },
  { head: "y", value: (k) => data.names[pairs.y[k]], show: (k) => named(pairs.y[k]), words: true },
  { head: "posterior", value: logPosterior, text: (k) => probability(logPosterior(k)) },
  { head: "seen from x", value: (k) => pairs.xy[k], text: (k) => probability(pairs.xy[k]) },
  { head: "seen from y", value: (k) => pairs.yx[k], text: (k) => probability(pairs.yx[k]) },
  ...(data.has_support
    ? [{ head: "support", value: (k) => pairs.support[k], text: (k) => percent(pairs.support[k]) }]
    : []),
  { head: "ascent", value: ascent, text: (k) => ascent(k) ?? "–" },
];

const listing = { sorted: null, falling: false, words: [], limit: ROWS };
const inWords = new Intl.Collator("en", { numeric: true });
const haystacks = everyPair.map((k) => `${label(k)} ${kindOf(k)}`.toLowerCase());

function compare(column) {
  const sign = listing.falling ? -1 : 1;
  return (a, b) => {
    const [one, two] = [column.value(a), column.value(b)];
    if (one === null || two === null) return (one === null) - (two === null) || a - b; // unknown ones last
    return sign * (column.words ? inWords.compare(one, two) : one - two) || a - b;
  };
}

function listTable() {
  const found = everyPair.filter((k) => listing.words.every((word) => haystacks[k].includes(word)));
  if (listing.sorted) found.sort(compare(listing.sorted));
  const shown = found.slice(0, listing.limit);
  at("pairs").tBodies[0].replaceChildren(...shown.map(tableRow));
  at("more").hidden = shown.length === found.length;
  at("listed").textContent = pairs.x.length
    ? `${shown.length.toLocaleString("en")} of ${counted(found.length, "pair")}`
    : "There are no edges and no near misses.";
}

function tableRow(k) {
  const cells = columns.map((column, n) => {
    const what = column.show ? column.show(k) : String(column.text(k));
    return element(
      "td",
      { class: column.words ? (n ? "name" : "") : "number" },
      n ? what : link(what, () => pick("pair", k)),
    );
  });
  return element(
    "tr",
    {
      class: `${pairs.edge[k] ? "edge" : "miss"}${isPair(k) ? " picked" : ""}`,
      "data-pair": k,
      onclick: () => pick("pair", k),
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
