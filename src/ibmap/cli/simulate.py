"""``ibmap simulate``: data with a known truth, in two files."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap import __version__
from ibmap._text import either, in_seconds
from ibmap.cli import options, output, screen
from ibmap.cli.groups import Verb, expanded
from ibmap.cli.presets import PresetName, for_worlds
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.synthetic import World

FORMATS = ("csv", "parquet")  #: of the data
TRUTH = "truth.json"

simulate = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class WorldOptions:
    """What all worlds have: a size, a sampler, files."""

    variables: Annotated[int, typer.Option(metavar="N", help="Number of variables.")]
    rows: Annotated[int, typer.Option(metavar="D", help="Number of rows.")]
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the data and truth.json.")]
    sweeps: Annotated[
        int, typer.Option(metavar="S", help="Updates of every variable before a row is drawn.")
    ] = 200
    thin: Annotated[
        int | None,
        typer.Option(
            metavar="S", help="Use one chain, with this many sweeps before each row [one chain for each row]."
        ),
    ] = None
    seed: options.Seed = 0
    form: Annotated[str, typer.Option("--format", metavar="KIND", help="Format of the data: {tables}.")] = (
        "csv"
    )
    force: options.Force = False
    as_json: options.Json = False

    def draw(self, simulate: Callable[..., "World"], *arguments: Any, **settings: Any) -> "World":
        """Draw a world and its rows."""
        how: dict[str, Any] = {"sweeps": self.sweeps, "thin": self.thin, "random_state": self.seed}
        return simulate(self.variables, *arguments, self.rows, **settings, **how)


def simulate_random(
    world: WorldOptions,
    *,
    tau: Annotated[float, typer.Option(metavar="T", help="Mean number of neighbours.")],
    levels: Annotated[int, typer.Option(metavar="L", help="Levels of every variable.")] = 2,
    potentials: Annotated[
        str | None, typer.Option(metavar="KIND", help="Potentials: {potentials} [random].")
    ] = None,
    log_odds: Annotated[
        float | None, typer.Option(metavar="E", help="Log odds ratio of every factor [1].")
    ] = None,
    preset: PresetName = None,
) -> None:
    """Draw a random network and rows from it."""

    def draw() -> tuple["World", dict[str, Any]]:
        from ibmap.synthetic import simulate_random

        given = {"potentials": potentials, "log_odds": log_odds}
        usual = {"potentials": "random", "log_odds": 1.0}
        settings = {"levels": levels, **for_worlds(preset, given, usual)}
        return world.draw(simulate_random, tau, **settings), {"tau": tau, **settings}

    _simulate("random", draw, world)


def simulate_ising(
    world: WorldOptions,
    *,
    boundary: Annotated[str, typer.Option(metavar="KIND", help="Boundary: {boundaries}.")] = "open",
    couplings: Annotated[str, typer.Option(metavar="KIND", help="Couplings: {couplings}.")] = "ferromagnetic",
    strength: Annotated[
        float, typer.Option(metavar="J", help="Strength of the couplings; spins are 1 and -1.")
    ] = 0.25,
    field: Annotated[float, typer.Option(metavar="H", help="External field, the same for every spin.")] = 0.0,
) -> None:
    """Build an Ising model on a lattice and draw rows from it."""

    def draw() -> tuple["World", dict[str, Any]]:
        from ibmap.synthetic import lattice_shape, simulate_ising

        settings = {"boundary": boundary, "couplings": couplings, "strength": strength, "field": field}
        lattice = list(lattice_shape(world.variables))
        return world.draw(simulate_ising, **settings), {**settings, "lattice": lattice}

    _simulate("ising", draw, world)


simulate.command("random", cls=Verb, help="A random network: n·tau/2 edges, one factor for each.")(
    expanded(simulate_random)
)
simulate.command("ising", cls=Verb, help="Spins on a rectangular lattice.")(expanded(simulate_ising))


def _simulate(kind: str, draw: Callable[[], tuple["World", dict[str, Any]]], options: WorldOptions) -> None:
    """Draw a world, write it, and print what it is."""
    if options.form not in FORMATS:
        raise RequestError(f"--format must be {either(FORMATS)}, not {options.form!r}")
    out, name = options.out, f"data.{options.form}"
    with output.output_folder(out, (TRUTH, name), options.force):
        began = perf_counter()
        world, settings = draw()
        seconds = perf_counter() - began
        size = {"variables": options.variables, "rows": options.rows}
        settings = {**settings, "sweeps": options.sweeps, "thin": options.thin, "seed": options.seed}
        provenance = {"world": kind, **size, **settings, "ibmap": __version__}
        truth = {"variables": world.graph.names, "edges": world.graph.edges, "provenance": provenance}
        text = json.dumps(truth, ensure_ascii=False)
        files = {name: _data_file(world, options.form), TRUTH: text + "\n"}
        stale = [f"data.{form}" for form in FORMATS]  # of an older world
        output.write_together(out, files, overwrite=options.force, stale=stale)
    if options.as_json:
        screen.tell_json(truth)
        return
    graph, console = world.graph, screen.console()
    sizes = screen.counted(graph.n_variables, "variable"), screen.counted(graph.n_edges, "true edge")
    console.print(
        f"{screen.counted(len(world.data), 'row')} of {sizes[0]}, {sizes[1]}, in {in_seconds(seconds)}",
        style="bold",
    )
    shown = [f"{name.replace('_', '-')} {value}" for name, value in settings.items() if value is not None]
    console.print(f"{kind}: {', '.join(shown)}", style="dim")
    console.print(f"wrote {out / name} and {out / TRUTH}", style="dim")


def _data_file(world: "World", form: str) -> str | bytes:
    """Return the rows as a file, the variables as its columns."""
    from io import BytesIO

    import polars as pl

    frame = pl.DataFrame(dict(zip(world.graph.names, world.data.T.copy(), strict=True)))
    if form == "csv":
        return frame.write_csv()
    buffer = BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()
