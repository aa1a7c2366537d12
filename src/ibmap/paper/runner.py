"""Run the cells of a study that have no row yet, and keep every row as soon as it is there."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path

from ibmap.errors import RequestError
from ibmap.paper import workers
from ibmap.paper.experiment import Setup, Study
from ibmap.paper.results import Cell, Row, Value
from ibmap.paper.store import Store, path_of

Task = tuple[Cell, int]


def reproduce(
    study: Study,
    out: Path,
    *,
    quick: bool = False,
    repetitions: int | None = None,
    settings: Mapping[str, Value] | None = None,
    data_dir: Path | None = None,
    n_jobs: int = 1,
    advance: Callable[[int, int], None] | None = None,
) -> list[Row]:
    """Run a study, or what is left of it, and return all its rows.

    Parameters
    ----------
    study : Study
        What to run.
    out : Path
        Folder of the file of rows, which is added to.
    quick : bool
        Run the small grid.
    repetitions : int, optional
        How often to run each cell; the study says so by default.
    settings : mapping, optional
        Settings of the study to change.
    data_dir : Path, optional
        Where the real tables are.
    n_jobs : int
        Number of processes; rows do not depend on it (wall times aside).
    advance : function of (done, total), optional
        Called with the numbers of rows.
    """
    setup = Setup(changed(study, settings or {}), data_dir)
    times = repetitions or (study.quick_repetitions if quick else study.repetitions)
    wanted = [(cell, repetition) for repetition in range(times) for cell in study.cells(quick)]
    if study.check is not None:
        study.check(setup)
    with Store(path_of(out, study), study, setup.settings) as store:
        finished = {row.key for row in store.rows}
        tasks = [task for task in wanted if Row(*task, {}).key not in finished]
        done = len(wanted) - len(tasks)
        if advance is not None:
            advance(done, len(wanted))
        with closing(workers.run(study, setup, batches(study, tasks), n_jobs)) as rows:
            for row in rows:
                store.append(row)
                done += 1
                if advance is not None:
                    advance(done, len(wanted))
        return list(store.rows)


def changed(study: Study, changes: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings of a study with some of them changed."""
    for name in changes:
        if name not in study.settings:
            raise RequestError(f"{study.name} has no setting {name!r}; there are {', '.join(study.settings)}")
    return {name: changes.get(name, value) for name, value in study.settings.items()}


def batches(study: Study, tasks: Iterable[Task]) -> list[list[Task]]:
    """Put together what shares a world: the first repetition of everything first, then the longest first.

    A run that is stopped early has then seen as much of the grid as it could.
    """
    groups: dict[str, list[Task]] = {}
    for cell, repetition in tasks:
        apart = [value for name, value in cell.items() if name not in study.together]
        groups.setdefault(json.dumps([repetition, *apart]), []).append((cell, repetition))
    return sorted(
        groups.values(), key=lambda group: (group[0][1], -sum(study.cost(cell) for cell, _ in group))
    )
