"""``ibmap explain``: why this edge, or why none?"""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibmap.cli import options, screen
from ibmap.cli.table_options import load_as
from ibmap.errors import DataError, DataWarning, RequestError

if TYPE_CHECKING:
    from ibmap.data import Table
    from ibmap.results.result_file import Result


HOW = (
    "missing",
    "discretize",
    "bins",
    "drop",
    "only",
    "weights",
    "weights_are",
    "cluster",
    "imputation_seed",
    "nominal",
    "ordinal",
    "continuous",
    "numbers",
    "missing_values",
)  #: arguments of ``load_as``, in a result


def explain(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Folder that ibmap learn --out wrote.")],
    x: Annotated[str, typer.Argument(metavar="X", help="Variable.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="Other variable.")],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Table that the result was learned from [where it was then]."),
    ] = None,
    engine: options.EngineName = None,
    details: Annotated[
        bool, typer.Option("--details", help="Add the steps of the search, and the numbers as logarithms.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Explain an edge, or the lack of one."""
    from ibmap.results.explain import explain as explained
    from ibmap.results.result_file import read_result

    known = read_result(result)
    for name in (x, y):
        known.learned.graph.index(name)
    from ibmap.engines import as_engine
    from ibmap.learners.imputation import completed

    table = completed(as_engine(read_again(known, data), engine))
    found = explained(table, known.learned, x, y)
    if as_json:
        screen.tell_json(found.to_dict())
    else:
        screen.tell(f"{found}\n\n{found.details()}" if details else str(found))


def read_again(known: "Result", data: Path | None) -> "Table":
    """Read the table that a result was learned from, and make sure that it is the same."""
    from ibmap.data.schema import PARTS
    from ibmap.data.workbooks import sheet_of

    about = known.content["data"]
    if data is None and about.get("path") is None:
        raise RequestError("the result does not know where its table is: pass --data FILE")
    path = data or Path(str(about["path"]))
    if not sheet_of(path)[0].exists():
        raise RequestError(f"there is no table {str(path)!r} any more: pass --data FILE")
    with warnings.catch_warnings():  # what is odd about the table was said when it was learned from
        warnings.simplefilter("ignore", DataWarning)
        table = load_as(path, **{name: about[name] for name in HOW if about.get(name) is not None})
    schema = table.schema
    now, then = (schema.n_rows, schema.names), (known.learned.n_rows, known.learned.graph.names)
    if now != then:
        names = ", of other names" * (now[0] == then[0])
        raise DataError(
            f"{str(path)!r} is not the table of this result: it has {now[0]} rows and {len(now[1])} "
            f"variables, the result {then[0]} and {len(then[1])}{names}"
        )
    digest = str(about.get("digest", schema.digest))
    if not digest.startswith(PARTS) and digest != schema.digest:
        raise DataError(f"{str(path)!r} is not the table of this result: its values differ; learn again")
    return table
