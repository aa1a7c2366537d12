"""``ibmap report``: a page to look at a network and to question it."""

from pathlib import Path
from typing import Annotated

import typer

from ibmap.cli import options, screen
from ibmap.cli.convert import GroupsOption


def report(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="Folder that ibmap learn --out wrote.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Page to write [report.html in the folder].")
    ] = None,
    support: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder that ibmap bootstrap --out wrote [RESULT, if it has one]."),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Headline of the page.")] = None,
    groups: GroupsOption = None,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write the report of a result."""
    from ibmap._files import refuse_existing
    from ibmap._folders import settle

    folder = result if result.is_dir() else result.parent
    settle(folder)
    target = out or folder / "report.html"
    refuse_existing(target, overwrite=force)
    from ibmap.report import write_report
    from ibmap.results.bootstrap import FILE, read_support
    from ibmap.results.result_file import read_result

    known = read_result(result)
    beside = support or (folder if (folder / FILE).is_file() else None)
    found = read_support(beside, known) if beside is not None else None
    how = {"overwrite": force, "safe_csv": safe_csv, "title": title, "groups": groups}
    write_report(known, target, support=found, **how)  # type: ignore[arg-type]
    if as_json:
        about = {"out": str(target), "bytes": target.stat().st_size, "support": found is not None}
        screen.tell_json(about)
    else:
        screen.tell(
            f"wrote {target}{', with the support of the edges' if found else ''}: open it in a browser"
        )
