"""From a result to one file of HTML."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from ibmap._files import write_whole
from ibmap._words import counted
from ibmap.errors import RequestError
from ibmap.report.content import Support, header, page_content
from ibmap.result import Result

SCRIPTS = ("words.js", "drawing.js", "charts.js", "panel.js", "table.js", "page.js")
MISSING = 'the report needs bokeh: pip install "ibmap[report]"'


def available() -> bool:
    """Whether bokeh, which makes the figures, is installed."""
    from importlib.util import find_spec

    return find_spec("bokeh") is not None


def write_report(
    result: Result,
    path: str | PathLike[str],
    *,
    support: Support | None = None,
    about_support: Mapping[str, Any] | None = None,
    overwrite: bool = True,
) -> None:
    """Write the report of a result to a file, whole or not at all."""
    write_whole(Path(path), report_text(result, support, about_support), overwrite=overwrite)


def report_text(
    result: Result, support: Support | None = None, about_support: Mapping[str, Any] | None = None
) -> str:
    """Return the page: one self-contained file that opens offline and asks the network for nothing.

    Parameters
    ----------
    result : Result
        What ``ibmap.result.read_result`` returns.
    support : mapping from pairs of names to numbers, optional
        How often each edge came back in a bootstrap.
    about_support : mapping, optional
        ``n_replicates`` and ``seed`` of that bootstrap.
    """
    if not available():
        raise RequestError(MISSING)
    from ibmap.report.figures import figures

    graph = result.learned.graph
    content = page_content(result, support)
    shown = sum(content["pairs"]["edge"])
    return _template().render(
        title=f"{counted(graph.n_edges, 'edge')} among {counted(graph.n_variables, 'variable')}",
        header=header(result, about_support),
        cut=counted(shown, "edge") if shown < graph.n_edges else None,
        content=_in_script(content),
        figures=_in_script(figures()),
        bokeh=_bokeh(),
        style=_own("page.css"),
        script="\n".join(map(_own, SCRIPTS)),
    )


def _in_script(value: Any) -> str:
    """Return JSON that may stand inside a script element: no name can end it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _own(name: str) -> str:
    return resources.files("ibmap.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    return Environment(autoescape=True, undefined=StrictUndefined).from_string(_own("page.html"))


def _bokeh() -> str:
    """Return BokehJS itself, without widgets: controls are plain HTML, which keyboards and phones know."""
    from bokeh.resources import Resources

    return "\n".join(Resources(mode="inline", components=["bokeh"]).js_raw)
