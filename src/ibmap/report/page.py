"""From a result to one file of HTML."""

import json
from functools import cache
from importlib import resources
from os import PathLike
from typing import Any

from ibmap import _checks
from ibmap._files import refuse_existing, write_whole
from ibmap._text import counted, in_short
from ibmap.errors import RequestError
from ibmap.report.content import header, headline, page_content, posterior_in_words
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
        --out``: the frequency of each edge is shown beside its posterior.
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
    graph, learned = result.learned.graph, result.learned
    content = {**page_content(result, support, groups), "safe_csv": safe_csv}
    text: str = _template().render(
        title=title,
        finding=headline(result),
        n_rows=learned.n_rows,
        meaning=posterior_in_words(learned),
        warnings=learned.warnings,
        header=header(result, support),
        cut=counted(content["n_listed"], "association") if content["n_listed"] < graph.n_edges else None,
        content=_in_script(content),
        support=support,
        effects=learned.effects is not None,
        continuous=content["continuous"],
        style="\n".join(map(_own, STYLES)),
        script="\n".join(map(_own, SCRIPTS)),
    )
    return text


def _in_script(value: Any) -> str:
    """Return JSON that may stand inside a script element: no name can end it; numbers have eight digits."""
    value = json.loads(
        json.dumps(value, allow_nan=False), parse_float=lambda text: float(f"{float(text):.8g}")
    )
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _own(name: str) -> str:
    return resources.files("ibmap.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    return Environment(autoescape=True, undefined=StrictUndefined).from_string(_own("page.html"))
