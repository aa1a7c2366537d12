"""``ibmap plot``: a picture of a network, of two, or of how the score rose."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap._text import listed
from ibmap.cli import options, screen
from ibmap.cli.convert import GroupsOption, read_network
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 150
NO_PICTURES = ("pgf", "raw", "rgba")  #: matplotlib writes them too, with LaTeX, or without a header


def plot(
    source: Annotated[Path, typer.Argument(metavar="RESULT", help="Folder of a result, or a network file.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Picture to write: .png, .svg, .pdf, ...")],
    truth: Annotated[
        Path | None,
        typer.Option(metavar="OTHER", help="True network, to show which edges are right, false and missing."),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Draw the score over the steps of the search instead.")
    ] = False,
    layout: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Layout: {layouts}, another one of networkx, or a CSV with variable, x, y."
        ),
    ] = "packed",
    groups: GroupsOption = None,
    about: Annotated[
        str | None,
        typer.Option(metavar="X", help="Draw only this variable, its neighbours, and their edges."),
    ] = None,
    strength: Annotated[
        float, typer.Option(metavar="S", help="Draw only edges of at least this strength, from 0 to 1.")
    ] = 0.0,
    predictability: Annotated[
        bool, typer.Option("--predictability", help="Draw as rings how well neighbours predict a variable.")
    ] = False,
    grey: Annotated[bool, typer.Option("--grey", help="No colours; negative edges are dashed.")] = False,
    width_mm: Annotated[
        float | None, typer.Option(metavar="MM", help="Width of the picture in millimetres, for print.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Draw a network and write the picture."""
    from ibmap._files import refuse_existing, write_whole

    if scores and truth is not None:
        raise RequestError("--scores and --truth are two pictures: ask for one of them")
    how: dict[str, Any] = {"groups": groups, "about": about, "strength": strength}
    how |= {"predictability": predictability, "grey": grey, "width_mm": width_mm}
    how = {name: value for name, value in how.items() if value}
    if (scores or truth is not None) and how:
        given = listed([f"--{name.replace('_', '-')}" for name in how])
        raise RequestError(f"{given}: for the picture of one network")
    places = Path(layout) if Path(layout).suffix == ".csv" else layout
    form = format_of(out)
    refuse_existing(out, overwrite=force)
    if scores:
        axes, found = score_picture(source)
    elif truth is not None:
        axes, found = comparison_picture(source, truth, places)
    else:
        axes, found = network_picture(source, places, **how)
    picture = io.BytesIO()
    axes.get_figure().savefig(picture, format=form, dpi=DPI)  # type: ignore[union-attr]
    write_whole(out, picture.getvalue(), overwrite=force)
    if as_json:
        screen.tell_json({"out": str(out), **found})
    else:
        screen.tell(f"wrote {out}: {in_words(found)}")


def format_of(out: Path) -> str:
    """Return the format of the suffix, if matplotlib is there and writes it."""
    try:
        import matplotlib
    except ImportError:
        raise RequestError("pictures need matplotlib: pip install matplotlib") from None
    matplotlib.use("agg")  # no window, also where there is a screen
    from matplotlib.backend_bases import FigureCanvasBase

    known = [name for name in FigureCanvasBase.get_supported_filetypes() if name not in NO_PICTURES]
    suffix = out.suffix.lower().removeprefix(".")
    if suffix not in known:
        raise RequestError(f"no format has the suffix of {str(out)!r}: it must end in .{', .'.join(known)}")
    return suffix


def network_picture(
    source: Path, layout: str | Path, groups: str | None = None, about: str | None = None, **how: Any
) -> tuple["Axes", dict[str, Any]]:
    """Draw one network, or what is around one variable."""
    from ibmap.exchange import with_groups
    from ibmap.plots import plot as drawn
    from ibmap.plots.pictures import around, at_least

    network = at_least(read_network(source), how.pop("strength", 0.0))
    shown = network if about is None else around(network, about)
    n, m = shown.graph.n_variables, shown.graph.n_edges
    found: dict[str, Any] = {"picture": "network", "variables": n, "edges": m}
    found["posteriors"] = bool(network.numbers)
    grouped = None if groups is None else dict(with_groups(network, groups).groups)
    if grouped is not None:
        found["groups"] = grouped
    tell_missing(shown.graph.names)
    return drawn(network, layout=layout, groups=grouped, about=about, **how), found


def tell_missing(names: Iterable[str]) -> None:
    """Say which letters no font of this machine has."""
    from ibmap.plots.fonts import missing_letters

    if lost := missing_letters(names):
        some = f"{lost[:10]}{' ...' * (len(lost) > 10)}"
        screen.note(f"matplotlib has no font with the letters {some}, and shows squares instead")


def comparison_picture(source: Path, truth: Path, layout: str | Path) -> tuple["Axes", dict[str, Any]]:
    """Draw a network over the truth."""
    from ibmap.metrics import compare_edges
    from ibmap.plots import plot_comparison

    mine, true = read_network(source).graph, read_network(truth).graph
    tell_missing(true.names)
    axes = plot_comparison(mine, true, layout=layout)
    edges = {kind: len(found) for kind, found in compare_edges(mine, true)._asdict().items()}
    about = {"variables": true.n_variables, **edges}
    return axes, {"picture": "comparison", **about}


def score_picture(source: Path) -> tuple["Axes", dict[str, Any]]:
    """Draw the score over the ascents of a result."""
    from ibmap.plots import plot_scores
    from ibmap.results.result_file import read_result

    learned = read_result(source).learned
    if learned.score is None:
        raise RequestError(f"{learned.learner} has no score: only learners with one climb")
    about = {"picture": "scores", "ascents": len(learned.history), "score": learned.score}
    return plot_scores(learned), about


def in_words(about: dict[str, Any]) -> str:
    """Return what the picture shows, in words.

    Examples
    --------
    >>> in_words({"picture": "comparison", "variables": 9, "right": 7, "false": 1, "missing": 2})
    '7 edges right, 1 false, 2 missing, among 9 variables'
    """
    from ibmap.plots.pictures import CROWDED, NAMED

    if about["picture"] == "scores":
        return f"the score over {screen.counted(about['ascents'], 'ascent')}, {about['score']:.3f} at the end"
    names = screen.counted(about["variables"], "variable")
    if about["variables"] > CROWDED:
        fits = about["variables"] <= NAMED
        names += ", with the names that fit" if fits else ", too many for their names"
    if about.get("groups"):
        names += f", in {screen.counted(len(set(filter(None, about['groups'].values()))), 'group')}"
    if about["picture"] == "comparison":
        edges = f"{screen.counted(about['right'], 'edge')} right, {about['false']:,} false"
        return f"{edges}, {about['missing']:,} missing, among {names}"
    return f"{screen.counted(about['edges'], 'edge')} among {names}"
