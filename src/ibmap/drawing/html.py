"""What notebooks show of a result: a headline, a few edges, a small picture."""

from collections.abc import Sequence
from html import escape

CELL = "padding:1px 10px 1px 0;text-align:{};border:none"


def summary_html(headline: str, lines: Sequence[str], table: str, picture: str = "") -> str:
    """Return the parts as one block of HTML; the headline and the lines are text.

    Examples
    --------
    >>> summary_html("2 edges", ["a < b"], "")
    '<div><p><b>2 edges</b></p><p style="margin:2px 0">a &lt; b</p></div>'
    """
    said = "".join(f'<p style="margin:2px 0">{escape(line)}</p>' for line in lines)
    return f"<div><p><b>{escape(headline)}</b></p>{said}{table}{picture}</div>"


def table_html(heads: Sequence[str], rows: Sequence[Sequence[str]], more: int = 0) -> str:
    """Return rows of text as a table, and how many more there are; the first two columns are names.

    Examples
    --------
    >>> table_html(["", "", "posterior"], [["a", "b", "0.9"]], 3).count("<td")
    4
    >>> table_html(["", ""], [])
    ''
    """
    if not rows:
        return ""
    head = "".join(_cell("th", text, k) for k, text in enumerate(heads))
    body = "".join(f"<tr>{''.join(_cell('td', text, k) for k, text in enumerate(row))}</tr>" for row in rows)
    if more > 0:
        body += f"<tr>{_cell('td', f'... and {more:,} more', 0, len(heads))}</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(kind: str, text: str, k: int, span: int = 1) -> str:
    across = f' colspan="{span}"' if span > 1 else ""
    return f'<{kind}{across} style="{CELL.format("left" if k < 2 else "right")}">{escape(text)}</{kind}>'
