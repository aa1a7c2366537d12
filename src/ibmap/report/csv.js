// The table as a file.

/** The pairs that are listed, as text: the columns of edges.csv, the support, and the last step that flipped the pair. */
function asCsv() {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const safe = (text) => (data.safe_csv && /^'*[=+@\t\r-]/.test(text) ? `'${text}` : text);
  const number = (log) => (log === null ? "" : log < -1e200 ? "-inf" : String(log));
  const steps = new Map(data.steps.map(([x, y], n) => [`${Math.min(x, y)} ${Math.max(x, y)}`, n + 1]));
  const more = [
    ...(data.has_support ? [["support", (k) => known("support", k)]] : []),
    ...(data.steps.length ? [["ascent", (k) => steps.get(`${pairs.x[k]} ${pairs.y[k]}`)]] : []),
  ];
  const first = ["x", "y", "posterior", "log_posterior_xy", "log_posterior_yx", "in_graph"];
  const heads = [...first, ...data.effect_numbers, ...more.map(([head]) => head)];
  const rows = found().map((k) => [
    ...[pairs.x[k], pairs.y[k]].map((i) => quoted(safe(data.names[i]))),
    logPosterior(k) === null ? "" : String(Math.exp(logPosterior(k))),
    ...[number(pairs.xy[k]), number(pairs.yx[k]), isEdge(k)],
    ...data.effect_numbers.map((name) => known(name, k) ?? ""),
    ...more.map(([, value]) => value(k) ?? ""),
  ]);
  return [heads, ...rows].map((row) => `${row.join(",")}\n`).join("");
}
