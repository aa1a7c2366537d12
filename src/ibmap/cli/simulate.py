"""``ibmap simulate``: data with a known truth, in two files."""

import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap import __version__
from ibmap.cli import options, output, screen, startup
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.synthetic import World

TRUTH = "truth.json"

Variables = Annotated[int, typer.Option(metavar="N", help="Number of variables.")]
Rows = Annotated[int, typer.Option(metavar="D", help="Number of rows.")]
Sweeps = Annotated[int, typer.Option(metavar="S", help="Updates of every variable before a row is read.")]
Thin = Annotated[
    int | None, typer.Option(metavar="S", help="One chain, so many sweeps before each row [a chain per row].")
]
Seed = Annotated[int, typer.Option(metavar="SEED", min=0, help="The same seed gives the same files.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Write the data and truth.json there.")]
Format = Annotated[str, typer.Option("--format", metavar="KIND", help="Of the data: csv or parquet.")]

simulate = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


@simulate.command("random", help="A random network: n·tau/2 edges, one factor for each.")
def simulate_random(
    variables: Variables,
    tau: Annotated[float, typer.Option(metavar="T", help="Mean number of neighbours.")],
    rows: Rows,
    out: Out,
    levels: Annotated[int, typer.Option(metavar="L", help="Levels of every variable.")] = 2,
    potentials: Annotated[str, typer.Option(metavar="KIND", help="random or symmetric.")] = "random",
    log_odds: Annotated[float, typer.Option(metavar="E", help="Log-odds ratio of every factor.")] = 1.0,
    sweeps: Sweeps = 200,
    thin: Thin = None,
    seed: Seed = 0,
    form: Format = "csv",
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Draw a random network and rows from it."""
    choice = {"levels": levels, "potentials": potentials, "log_odds": log_odds}
    settings = {"variables": variables, "tau": tau, "rows": rows, **choice, "sweeps": sweeps, "thin": thin}

    def draw() -> "World":
        from ibmap.synthetic import simulate_random

        return simulate_random(
            variables, tau, rows, levels=levels, potentials=potentials, log_odds=log_odds, sweeps=sweeps,
            thin=thin, random_state=seed,
        )  # fmt: skip

    _simulate("random", draw, {**settings, "seed": seed}, out, form, force, as_json)


@simulate.command("ising", help="Spins on a rectangular lattice.")
def simulate_ising(
    variables: Variables,
    rows: Rows,
    out: Out,
    boundary: Annotated[str, typer.Option(metavar="KIND", help="open or periodic.")] = "open",
    couplings: Annotated[
        str, typer.Option(metavar="KIND", help="ferromagnetic, plus-minus or gaussian.")
    ] = "ferromagnetic",
    strength: Annotated[
        float, typer.Option(metavar="J", help="Of the couplings; spins are 1 and -1.")
    ] = 0.25,
    field: Annotated[float, typer.Option(metavar="H", help="What every spin feels.")] = 0.0,
    sweeps: Sweeps = 200,
    thin: Thin = None,
    seed: Seed = 0,
    form: Format = "csv",
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Build an Ising model on a lattice and draw rows from it."""
    choice = {"boundary": boundary, "couplings": couplings, "strength": strength, "field": field}
    settings = {"variables": variables, "rows": rows, **choice, "sweeps": sweeps, "thin": thin, "seed": seed}

    def draw() -> "World":
        from ibmap.synthetic import lattice_shape, simulate_ising

        settings["lattice"] = list(lattice_shape(variables))
        return simulate_ising(
            variables, rows, boundary=boundary, couplings=couplings, strength=strength, field=field,
            sweeps=sweeps, thin=thin, random_state=seed,
        )  # fmt: skip

    _simulate("ising", draw, settings, out, form, force, as_json)


def _simulate(
    kind: str, draw: Any, settings: dict[str, Any], out: Path, form: str, force: bool, as_json: bool
) -> None:
    """Draw a world, write it, and say so."""
    if form not in ("csv", "parquet"):
        raise RequestError(f"--format must be csv or parquet, not {form!r}")
    startup.import_numba()
    name = f"data.{form}"
    with output.output_folder(out, (name, TRUTH), force):
        began = perf_counter()
        world = draw()
        seconds = perf_counter() - began
        provenance = {"world": kind, **settings, "ibmap": __version__}
        truth = {"variables": world.graph.names, "edges": world.graph.edges, "provenance": provenance}
        text = json.dumps(truth, ensure_ascii=False)
        output.write_together(out, {name: _data_file(world, form), TRUTH: text + "\n"})
    if as_json:
        typer.echo(text)
        return
    graph, console = world.graph, screen.console()
    sizes = screen.counted(graph.n_variables, "variable"), screen.counted(graph.n_edges, "true edge")
    console.print(
        f"{screen.counted(len(world.data), 'row')} of {sizes[0]}, {sizes[1]}, in {seconds:.3g} s",
        style="bold",
    )
    known = ("variables", "rows")
    shown = [f"{o.replace('_', '-')} {v}" for o, v in settings.items() if v is not None and o not in known]
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
