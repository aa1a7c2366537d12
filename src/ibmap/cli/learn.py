"""``ibmap learn``: from a file to a network."""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibmap._text import listed
from ibmap.cli import options, screen
from ibmap.cli.interrupts import advise, advised
from ibmap.cli.output import csv_text, output_folder, write_together
from ibmap.cli.presets import PresetName, for_learning
from ibmap.errors import SearchInterrupted, SearchWarning

if TYPE_CHECKING:
    from ibmap.results.learned import Learned
    from ibmap.results.result_file import Result

PAGE = "report.html"
SO_FAR = "interrupted.json"  #: the best network of a search that was interrupted
FILES = ("graph.json", "edges.csv", "result.json", PAGE)  #: what --out writes


def learn(
    file: options.File,
    learner: options.LearnerOptions,
    test: options.TestOptions,
    table: options.TableOptions,
    *,
    preset: PresetName = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads; -1: one for each core [1].")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the search in this file, and go on from it if it exists."),
    ] = None,
    output: options.OutputOptions,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of edges to show; 0: only the headline.")
    ] = 10,
) -> None:
    """Learn a network from a file, show it and write it."""
    chosen, test, table = for_learning(preset, learner, test, table)
    chosen.function()  # an unknown one is refused before the table is read
    from ibmap.results.result_file import result_of_learned

    out = output.out
    try:
        with output_folder(out, FILES, output.force):
            engine, about = table.suited_to(test.test, chosen.score, chosen.learner).read(file)
            learning = chosen.prepared(test, engine.schema, n_jobs=jobs, checkpoint=checkpoint)
            with advised(how_to_go_on(checkpoint)), screen.progress() as callback:
                learned = learning(engine, callback).described(engine)
            if out is not None:
                files = result_files(result_of_learned(learned, engine, about), output.safe_csv)
                write_together(out, files, overwrite=output.force, stale=(*FILES, SO_FAR))
    except SearchInterrupted as interrupted:
        keep(interrupted, out, checkpoint)
        raise
    if learner.learner is None and preset is None and chosen.learner != options.USUAL:
        screen.note(f"learned with {chosen.learner}: {options.USUAL} uses no test (--test {test.test})")
    for words in learned.warnings[len(engine.schema.warnings) :]:  # those were said before
        warnings.warn(words, SearchWarning, stacklevel=1)
    levels = dict(zip(engine.schema.names, engine.schema.levels, strict=True))
    show(learned, levels, output.as_json, top)
    if out is not None and not output.as_json:
        console = screen.console()
        console.print(f"wrote {out}: {listed(tuple(files))}", style="dim")
        console.print(f"to look around: open {out / PAGE} in a browser", style="dim")
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)


def keep(interrupted: SearchInterrupted, out: Path | None, checkpoint: Path | None) -> None:
    """Write the best network so far, and say how to go on from it."""
    from ibmap._files import write_whole

    found = f"{interrupted.graph.n_edges:,} edges after {interrupted.n_steps:,} ascents"
    if out is None:
        advise(f"{found}: with --out DIR the network so far is kept; {how_to_go_on(checkpoint)}")
        return
    target = out / SO_FAR
    out.mkdir(parents=True, exist_ok=True)
    write_whole(target, interrupted.graph.to_json(), overwrite=True)
    on = (
        f"the same command goes on from {checkpoint}"
        if checkpoint
        else f"--start {target} goes on from there"
    )
    advise(f"the network so far, {found}, is in {target}: {on}")


def how_to_go_on(checkpoint: Path | None) -> str:
    """Return what to do after an interruption."""
    if checkpoint is None:
        return "with --checkpoint FILE a search is saved every ten seconds, and can go on"
    return f"the same command goes on from {checkpoint}, if the search ran for ten seconds"


def graph_text(learned: "Learned") -> str:
    """Return what graph.json holds."""
    return json.dumps(learned.to_dict(), ensure_ascii=False, indent=1) + "\n"


def result_files(result: "Result", safe_csv: bool = False) -> dict[str, str]:
    """Return the files of a result, by name."""
    from ibmap.report import report_text
    from ibmap.results.result_file import result_text

    learned = result.learned
    files = graph_text(learned), csv_text(learned.edges_frame, safe_csv), result_text(result)
    return dict(zip(FILES, [*files, report_text(result, safe_csv=safe_csv)], strict=True))


def show(learned: "Learned", levels: Mapping[str, Sequence[object]], as_json: bool, top: int) -> None:
    """Print the result."""
    if as_json:
        screen.tell_json(learned.to_dict())
        return
    console = screen.console()
    console.print(screen.headline(learned), style="bold")
    if not top:
        return
    console.print()
    table = screen.edge_table(learned, top)
    if table.row_count:
        console.print(table)
        console.print()
    effects = screen.effects_in_words(learned, levels, top)
    about = (learned.posterior_in_words, effects) if table.row_count else ()
    predicted, view, listed_ = learned.predictability_in_words, learned.view_in_words, learned.listed_in_words
    for words in filter(None, (*about, predicted, view, listed_, learned.origin)):
        console.print(words, style="dim")
    more = screen.more_patience(learned)
    if more is not None and not learned.warnings:
        console.print(f"some pairs without an edge look certain: --patience {more} searches on", style="dim")
