"""Two groups on one page: what was compared, a picture of what differs, and all edges. One file, offline."""

from html import escape
from importlib import resources

from ibmap.drawing.svg import ACCENT, INK, WRONG
from ibmap.results.comparison import LEVEL, SAME, Comparison

WHAT = (
    "Strength is Cramér's V of an edge, everything else equal, with a sign for binary and ordinal variables. "
    "Both groups are fitted with the edges of either network; in brackets: the network of this group lacks "
    "the edge. p: the share of permutations of the rows in which this edge differs as much, in "
    "standard errors; adjusted: in which any edge does."
)
STYLE = """
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif;
  background: var(--paper); color: var(--ink); }
h1 { font-size: 1.3rem; } p, .legend { max-width: 46rem; } .legend, footer { color: var(--faint); }
svg { border: 1px solid var(--line); border-radius: 10px; height: auto; width: 100%; }
.key { display: inline-block; width: 1.6rem; border-top: 3px solid; vertical-align: middle; }
.key { outline: 3px solid #fff; }
tr.different td { font-weight: 600; }
@media print { body { margin: 0; max-width: none; } .scroll.long { max-height: none; overflow: visible; } }
"""


def comparison_page(found: Comparison) -> str:
    """Return the page as text."""
    first, second = map(escape, found.labels)
    style = "\n".join(
        resources.files("ibmap.report").joinpath(name).read_text(encoding="utf-8")
        for name in ("palette.css", "tables.css")
    )
    words = "".join(f"<p>{escape(line)}</p>" for line in found.words().splitlines())
    keys = (
        (ACCENT, "solid", f"differs, only {first}"),
        (WRONG, "solid", f"differs, only {second}"),
        (INK, "solid", "differs, in both"),
        (SAME, "solid", "in both, no sure difference"),
        (SAME, "dashed", "in one, no sure difference"),
    )
    legend = " · ".join(
        f'<span class="key" style="border-color:{colour};border-top-style:{how}"></span> {what}'
        for colour, how, what in keys
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{first} and {second}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="'  # it needs its own style, and nothing else
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">"
        f"<style>{style}{STYLE}</style></head><body><h1>{first} and {second}: two networks compared</h1>"
        f'{words}{found.svg(760)}<p class="legend">{legend}</p>{_table(found)}'
        f'<p class="legend">{WHAT}</p>'
        f"<footer>ibmap, {escape(found.learned[0].learner)}</footer></body></html>\n"
    )


def _table(found: Comparison) -> str:
    heads = ("", "", *map(escape, found.labels), "difference", "p", "adjusted p")
    head = "".join(f"<th{' class=number' * (k > 1)}>{text}</th>" for k, text in enumerate(heads))
    rows = []
    for x, y, *numbers in found.rows():
        kind = ' class="different"' if float(numbers[-1]) < LEVEL else ""
        names = "".join(f'<td class="name">{escape(name)}</td>' for name in (x, y))
        shown = "".join(f'<td class="number">{number}</td>' for number in numbers)
        rows.append(f"<tr{kind}>{names}{shown}</tr>")
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="scroll long">{table}</div>'
