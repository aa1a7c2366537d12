"""``ibmap fit``: from a structure to a model."""

from dataclasses import fields, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap._text import listed
from ibmap.cli import options, screen
from ibmap.cli.convert import read_from, read_network
from ibmap.cli.explain import HOW
from ibmap.errors import RequestError

SHOWN = 10  #: interactions that are named on the screen; all are in the file, and in --json

if TYPE_CHECKING:
    from ibmap.model import MarkovNetwork


def fit(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT", help="Folder that ibmap learn --out wrote, or a network file.")
    ],
    file: options.File,
    *,
    method: Annotated[str, typer.Option(metavar="NAME", help="Method: {fits}.")] = "auto",
    effect_variance: Annotated[
        float, typer.Option(metavar="V", help="Prior variance of a log odds ratio (pseudo-likelihood).")
    ] = 4.0,
    pseudo_rows: Annotated[
        float,
        typer.Option(
            metavar="R", help="Rows to add, spread evenly over all configurations (maximum likelihood)."
        ),
    ] = 1.0,
    max_iter: Annotated[int, typer.Option(metavar="N", help="Most iterations.")] = 1000,
    table: options.TableOptions,
    out: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="File to write: .json, or .uai [RESULT/model.json]."),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Estimate the parameters of a network, and write the model."""
    from ibmap._files import refuse_existing

    target = out or result / "model.json"
    if out is None and not result.is_dir():
        raise RequestError("pass --out MODEL: only the folder of a result has a place for the model")
    refuse_existing(target, overwrite=force, read=[file, *read_from(result)])
    source = as_source(result)
    from ibmap.model import MarkovNetwork, write_model

    engine, _ = as_learned(result, table).read(file)
    began = perf_counter()
    how: dict[str, Any] = {"effect_variance": effect_variance, "pseudo_rows": pseudo_rows}
    model = MarkovNetwork.fit(source, engine, method=method, max_iter=max_iter, **how)
    seconds = perf_counter() - began
    write_model(model, target, overwrite=force)
    show(model, target, seconds, as_json)


def as_source(result: Path) -> Any:
    """Return what was learned, which knows its arcs; of other networks the graph."""
    file = result / "result.json" if result.is_dir() else result
    if file.name == "result.json" and file.is_file():
        from ibmap.results.result_file import read_result

        return read_result(file).learned
    return read_network(result).graph


def as_learned(result: Path, given: options.TableOptions) -> options.TableOptions:
    """Return how the table of a result was read; options that are given count more."""
    file = result / "result.json" if result.is_dir() else result
    if file.name != "result.json" or not file.is_file():
        is_cut = given.discretize is not None or given.bins is not None
        return given if is_cut or given.continuous else replace(given, continuous=["auto"])
    from ibmap.results.result_file import read_result

    about = {name: read_result(file).content["data"].get(name) for name in HOW}
    usual = {option.name: option.default for option in fields(options.TableOptions)}
    chosen = {name: getattr(given, name) for name in usual if getattr(given, name) != usual[name]}
    if "discretize" in chosen or "bins" in chosen:  # numbers that were taken as they are can be cut now
        about["continuous"] = about["numbers"] = None
    known = {name: value for name, value in about.items() if value is not None}
    return options.TableOptions(**{**known, **chosen})


def show(model: "MarkovNetwork", target: Path, seconds: float, as_json: bool) -> None:
    """Print what was made."""
    by, n_parameters = model.fitted_by, len(model.theta)
    found = {"out": str(target), "method": by.method if by else None, "n_rows": by.n_rows if by else None}
    straight = [list(edge) for edge in getattr(model, "straight", ())]
    if as_json:
        about: dict[str, Any] = {"parameters": n_parameters, "exact": model.is_tractable, "seconds": seconds}
        about["interactions"] = [list(names) for names in model.interactions]
        about["straight"] = straight
        screen.tell_json({**found, "variables": len(model.names), "edges": model.graph.n_edges, **about})
        return
    sizes = screen.counted(model.graph.n_edges, "edge"), screen.counted(len(model.names), "variable")
    rows = screen.counted(by.n_rows if by else 0, "row")
    how = f"by {found['method']} in {screen.in_seconds(seconds)}"
    screen.tell(f"{sizes[0]} among {sizes[1]}, fitted to {rows} {how}")
    what = f"a model {model.terms_in_words}" if model.terms_in_words else "this model"
    how = "exactly" if model.is_tractable else "by Gibbs sampling"
    screen.tell(f"questions will be answered {how}, for {what}")
    if len(model.interactions) > 3:
        shown, more = model.interactions[:SHOWN], len(model.interactions) - SHOWN
        words = "; ".join(map(listed, shown)) + (f"; and {more:,} more" if more > 0 else "")
        screen.tell(f"interactions: {words}")
    screen.tell(f"wrote {target}")
