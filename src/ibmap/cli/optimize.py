"""``ibmap optimize``: a problem with a known optimum, solved with learned networks."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import options, screen
from ibmap.cli.interrupts import advise
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.eda import MOA, Optimised, Problem


@dataclass(frozen=True)
class LearnerOptions(options.SearchOptions):
    """The learner of every generation: with the choices that only an optimiser has."""

    learner: Annotated[
        str, typer.Option(metavar="NAME", help="Learning algorithm: {learners}, or none (no edges).")
    ] = "ibmap-hc"
    symmetry: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Whether one end must choose an edge, or both: {symmetries}; own: they need not agree.",
        ),
    ] = None

    def learner_or_name(self) -> object:
        """Return the learner with its options; its name, if there are none."""
        from ibmap.eda import OwnNeighbours
        from ibmap.learners.registry import LEARNERS, find_learner

        given = self.given()
        if self.learner not in LEARNERS or not given:
            for option in given:
                raise RequestError(f"{self.learner} has no option {options.typed(option)}")
            return self.learner
        options.refuse_unknown(given, self.learner, LEARNERS, find_learner)
        if self.symmetry == "own":
            if self.learner != "mi":
                raise RequestError(f"--symmetry own is an option of mi, not of {self.learner}")
            del given["symmetry"]
            return OwnNeighbours(**given)
        return partial(find_learner(self.learner), **given)


def optimize(
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="Problem: {problems}.")],
    bits: Annotated[int, typer.Option(metavar="N", help="Number of bits.")],
    population: Annotated[int, typer.Option(metavar="D", help="Size of the population.")] = 400,
    *,
    learner: LearnerOptions,
    sampling: Annotated[
        str, typer.Option(metavar="KIND", help="How to draw from the network: {sampling}.")
    ] = "boltzmann-joint",
    generations: Annotated[int, typer.Option(metavar="G", min=0, help="Most generations.")] = 1000,
    evaluations: Annotated[
        int | None, typer.Option(metavar="E", min=0, help="Most evaluations [no limit].")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Option of the problem: gamma, k, degree ...; may be repeated.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="SEED", min=0, help="Random seed of the run and of the problem.")
    ] = 0,
    as_json: options.Json = False,
) -> None:
    """Look for the best bit string, and show how far the run came."""
    from ibmap.eda import Stop, make_problem, maximize

    task = make_problem(problem, bits, random_state=seed, **problem_options(changes or []))
    stop = Stop(target=task.optimum, generations=generations, evaluations=evaluations)
    search = learner.learner_or_name()
    began = perf_counter()
    last = Last()
    try:
        with progress(task) as callback:
            found = maximize(
                task, bits, population, stop=stop, learner=search, sampling=sampling,
                callback=last.then(callback), random_state=seed,
            )  # fmt: skip
    except KeyboardInterrupt:
        last.show(as_json)
        raise
    show(task, found, learner.learner, perf_counter() - began, as_json)


class Last:
    """The last generation of a run, to be shown if it is interrupted."""

    def __init__(self) -> None:
        self.moa: MOA | None = None

    def then(self, callback: Callable[["MOA"], None] | None) -> Callable[["MOA"], None]:
        """Return what notes a generation, and calls somebody else."""

        def note(moa: "MOA") -> None:
            self.moa = moa
            if callback is not None:
                callback(moa)

        return note

    def show(self, as_json: bool) -> None:
        """Print the best string so far, and say how the run could go on."""
        if self.moa is None:
            return
        best, bits = self.moa.best_, "".join(map(str, self.moa.best_.solution.tolist()))
        if as_json:
            about = {"best": best.fitness, "solution": best.solution.tolist(), "stopped_by": "interrupt"}
            screen.tell_json(
                {**about, "generations": self.moa.generation, "evaluations": self.moa.evaluations}
            )
        else:
            screen.tell(f"best so far {best.fitness:g}\n{bits}")
        advise(
            f"after {screen.counted(self.moa.generation, 'generation')}; in Python, maximize(..., "
            "checkpoint=FILE) goes on where it was"
        )


def problem_options(changes: list[str]) -> dict[str, Any]:
    """Return options from ``name=value``: numbers, true and false, or words.

    Examples
    --------
    >>> problem_options(["k=4", "shuffled=true", "boundary=open", "degree=2.5"])
    {'k': 4, 'shuffled': True, 'boundary': 'open', 'degree': 2.5}
    """
    found: dict[str, Any] = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise RequestError(f"--set takes NAME=VALUE, not {change!r}")
        if name == "random_state":
            raise RequestError("--seed draws the problem, too: there is no random_state to --set")
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found


def show(task: "Problem", found: "Optimised", learner: str, seconds: float, as_json: bool) -> None:
    """Print what a run ended with."""
    from ibmap.metrics import f_measure

    graph = found.optimizer.graph_
    f = f_measure(graph, task.graph, of="edges").f if graph is not None else None
    if as_json:
        result = {
            "problem": task.name,
            "bits": task.n,
            "learner": learner,
            "best": found.fitness,
            "optimum": task.optimum,
            "solution": found.solution.tolist(),
            "stopped_by": found.stopped_by,
            "generations": found.generations,
            "evaluations": found.evaluations,
            "edges": None if graph is None else graph.n_edges,
            "f_edges": f,
            "seconds": seconds,
            "history": found.optimizer.history_.to_dicts(),
        }
        screen.tell_json(result)
        return
    console = screen.console()
    aim = "no optimum is known" if task.optimum is None else f"the optimum is {task.optimum:g}"
    reached = "found the optimum: " if found.stopped_by == "target" else ""
    console.print(f"{reached}best {found.fitness:g} ({aim})", style="bold")
    console.print("".join(map(str, found.solution.tolist())), soft_wrap=True)
    effort = screen.counted(found.evaluations, "evaluation"), screen.counted(found.generations, "generation")
    console.print(
        f"{effort[0]}, {effort[1]} of {task.name} with {screen.counted(task.n, 'bit')} in "
        f"{screen.in_seconds(seconds)}; stopped by: {found.stopped_by}",
        style="dim",
    )
    if graph is not None:
        edges = screen.counted(graph.n_edges, "edge")
        true = screen.counted(task.graph.n_edges, "true interaction")
        console.print(f"{learner}: {edges} in the last network, {true}, F {f:.2f}", style="dim")


@contextmanager
def progress(task: "Problem") -> Iterator[Callable[["MOA"], None] | None]:
    """Show a line while the block runs, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.live import Live

    line = _Line(task.optimum)
    with Live(line, console=screen.console(stderr=True), transient=True, refresh_per_second=8):
        yield line


class _Line:
    """The line itself: generation, evaluations, best, edges."""

    def __init__(self, optimum: float | None) -> None:
        self._aim = "" if optimum is None else f" of {optimum:g}"
        self._words = "optimising ... (a first run compiles)"

    def __call__(self, moa: "MOA") -> None:
        edges = screen.counted(moa.graph_.n_edges if moa.graph_ is not None else 0, "edge")
        self._words = (
            f"generation {moa.generation}, {screen.counted(moa.evaluations, 'evaluation')}, "
            f"best {moa.best_.fitness:g}{self._aim}, {edges}"
        )

    def __rich__(self) -> str:
        return self._words
