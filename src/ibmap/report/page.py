"""From a result to one file of HTML."""

import json
from html import escape
from importlib import resources
from os import PathLike
from string import Template
from typing import Any

from ibmap import _checks
from ibmap._files import refuse_existing, write_whole
from ibmap._text import counted, in_short
from ibmap.errors import RequestError
from ibmap.report.content import header, page_content, source_name
from ibmap.report.glossary import glossary, legend
from ibmap.results.bootstrap import Support, as_support
from ibmap.results.result_file import Result, as_result

STYLES = ("palette.css", "tables.css", "page.css", "screens.css")
SCRIPTS = (
    *("words.js", "layout.js", "drawing.js", "groups.js", "moving.js", "pictures.js", "panel.js", "table.js"),
    *("csv.js", "page.js"),
)


def write_report(
    source: Any,
    path: str | PathLike[str],
    *,
    support: Any = None,
    overwrite: bool = False,
    safe_csv: bool = False,
    title: str | None = None,
    groups: Any = None,
) -> None:
    """Write the report of a learned network: one page of HTML that opens offline.

    Parameters
    ----------
    source : estimator, Result or path
        A fitted learner, what ``ibmap.read_result`` returned, or the folder of ``ibmap learn --out``.
    path : path
        The file to write.
    support : Bootstrap, Support or path, optional
        A fitted :class:`ibmap.Bootstrap` of the same table and learner, or the folder of ``ibmap bootstrap
        --out``: the support of each edge is shown beside its posterior.
    overwrite : bool
        Whether a file that is there may be replaced.
    safe_csv : bool
        Whether the table that the page saves has ``'`` before names that a spreadsheet takes for formulas.
    title : str, optional
        A title, above the finding.
    groups : path or mapping, optional
        Groups of variables, shown by colours, as for :func:`ibmap.plot`; by default communities that are
        found, which a click shows.
    """
    file = _checks.file_path(path, "path")
    refuse_existing(file, overwrite=_checks.flag(overwrite, "overwrite"))
    if title is not None and not isinstance(title, str):
        raise RequestError(f"title must be a string, not {in_short(title)}")
    safe_csv = _checks.flag(safe_csv, "safe_csv")
    result = as_result(source)
    text = report_text(result, as_support(support, result), safe_csv=safe_csv, title=title, groups=groups)
    write_whole(file, text, overwrite=overwrite)


def report_text(
    result: Result,
    support: Support | None = None,
    *,
    safe_csv: bool = False,
    title: str | None = None,
    groups: Any = None,
) -> str:
    """Return the page as text."""
    content = {**page_content(result, support, groups), "safe_csv": safe_csv}
    finding, lines, notes = result.learned.finding, header(result, support), list(result.learned.warnings)
    if content["n_listed"] < content["n_edges"]:
        kept = counted(content["n_listed"], "association")
        notes.append(f"this page carries the {kept} with the highest posterior; result.json has all of them")
    keys = [f'<span><span class="key {name}"></span> {text}</span>' for name, text in legend(result)]
    if result.learned.effects:
        keys.append("<span>The wider the line, the stronger the association.</span>")
    return Template(_own("page.html")).substitute(
        heading=escape(f"{title}: {finding}" if title else finding),
        title=f'<p class="title">{escape(title)}</p>' if title else "",
        finding=escape(finding),
        rows=counted(result.learned.n_rows, "row"),
        source=escape(source_name(result)),
        notes="".join(f'<p class="warning"><strong>Note:</strong> {escape(words)}</p>' for words in notes),
        legend=" ".join(keys),
        about=_definitions(lines),
        words=_definitions(glossary(result, support)),
        content=_in_script(content),
        style="\n".join(map(_own, STYLES)),
        script="\n".join(map(_own, SCRIPTS)),
    )


def _definitions(lines: list[tuple[str, str]]) -> str:
    return "".join(
        f"<div><dt>{escape(name)}</dt><dd><bdi>{escape(text)}</bdi></dd></div>" for name, text in lines
    )


def _in_script(value: Any) -> str:
    """Return JSON that may stand inside a script element: no name can end it; numbers have eight digits."""
    value = json.loads(
        json.dumps(value, allow_nan=False), parse_float=lambda text: float(f"{float(text):.8g}")
    )
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _own(name: str) -> str:
    return resources.files("ibmap.report").joinpath(name).read_text(encoding="utf-8")
