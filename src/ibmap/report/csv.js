// The table as a file.

/** The pairs that were searched for, as text: the columns of edges.csv, and what else the table has. */
function asCsv() {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const safe = (text) => (data.safe_csv && /^'*[=+@\t\r-]/.test(text) ? `'${text}` : text);
  const number = (log) => (log === null ? "" : log < -1e200 ? "-inf" : String(log));
  const more = columns.filter((column) => column === supportColumn || column === ascentColumn);
  const effects = data.effect_numbers;
  const heads = ["x", "y", "posterior", "log_posterior_xy", "log_posterior_yx", "in_graph", ...effects];
  const rows = found().map((k) => {
    const posterior = logPosterior(k) === null ? "" : String(Math.exp(logPosterior(k)));
    const logs = [posterior, number(pairs.xy[k]), number(pairs.yx[k])];
    const names = [pairs.x[k], pairs.y[k]].map((i) => quoted(safe(data.names[i])));
    const sizes = effects.map((name) => pairs[name][k] ?? "");
    return [...names, ...logs, pairs.edge[k], ...sizes, ...more.map((column) => column.value(k) ?? "")];
  });
  return [[...heads, ...more.map((column) => column.head)], ...rows]
    .map((row) => `${row.join(",")}\n`)
    .join("");
}

function saveTable() {
  const address = URL.createObjectURL(new Blob([asCsv()], { type: "text/csv" }));
  element("a", { href: address, download: "pairs.csv" }).click();
  URL.revokeObjectURL(address);
}
