"""What people see: numbers in words, a table of edges, a line that moves while they wait."""

import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

from ibmap._files import encoded
from ibmap._text import counted as counted
from ibmap._text import first_few, json_line, visible
from ibmap._text import in_seconds as in_seconds
from ibmap._text import probability as probability
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from ibmap.learners import Learned, Step, Visit

NEAR_MISSES = 3  #: pairs without an edge that are shown below the edges
SEVERAL = 4  #: levels that the note on effects names
WIDE = 160  #: columns when stdout is no terminal
BLANKS = re.compile(r" +(?=\n)")  #: at the ends of lines


def console(stderr: bool = False) -> "Console":
    """Return a console that shows names as they are: no markup, no emoji, no colours for numbers."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    elsewhere: Any = {} if stream.isatty() else {"width": WIDE, "file": _Bare(stream)}

    class Plain(Console):
        """A console on which no name does anything but appear."""

        def render_str(self, text: str, **more: Any) -> Any:
            return super().render_str(visible(text), **more)

    return Plain(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=False, **elsewhere)


def tell(text: str) -> None:
    """Write a line to stdout; names in it do nothing to a terminal."""
    _to_stdout(visible(text) + "\n")


def note(text: str) -> None:
    """Write a line to stderr about what was done, where nobody has asked for it."""
    sys.stderr.write(f"ibmap: note: {visible(text)}\n")


def tell_json(content: Any) -> None:
    """Write JSON to stdout, on one line."""
    _to_stdout(json_line(content, sys.stdout.encoding or "ascii") + "\n")


def hand_over(text: str) -> None:
    """Write a file to stdout: the same bytes as to a disk, unless a terminal shows them."""
    if is_terminal():
        _to_stdout(visible(text))
        return
    with writing():
        sys.stdout.flush()
        sys.stdout.buffer.write(encoded(text))
        sys.stdout.buffer.flush()


def is_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def _to_stdout(text: str) -> None:
    with writing():
        sys.stdout.write(text)
        sys.stdout.flush()


@contextmanager
def writing() -> Iterator[None]:
    """Say what it was that could not be written; a reader that has seen enough is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        give_up_stdout()
        raise RequestError(f"cannot write to stdout: {error.strerror or error}") from None


def give_up_stdout() -> None:
    """Let go of what could not be written: Python would try it again when it ends, and exit with 120."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def headline(learned: "Learned") -> str:
    """Return what was found in one sentence."""
    untested = len(learned.untested)
    return learned.finding + (f"; {counted(untested, 'edge')} untested" if untested else "")


def more_patience(learned: "Learned") -> int | None:
    """Return the patience to advise: the climb gave up although the first near miss is all but certain."""
    search, misses = learned.provenance.search, learned.edge_table.first(0, 1)
    options = search.options() if search is not None else {}
    if "patience" not in options or not misses or math.exp((misses[0][2] + misses[0][3]) / 2) <= 0.99:
        return None
    return max(5, 2 * int(options["patience"]))


def plain_table(*headers: str) -> "Table":
    """Return an empty table: numbers to the right, except in the last column, nothing cut off."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for header in headers[:-1]:
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column(headers[-1], overflow="fold")
    return table


def edge_table(learned: "Learned", top: int, near_misses: int = NEAR_MISSES) -> "Table":
    """Return a table of the strongest edges and the nearest misses."""
    from rich import box
    from rich.table import Table

    from ibmap.results.edges import UNDECIDED

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    has_posteriors, found = learned.score is not None, learned.edge_table
    table.add_column(learned.order_in_words, overflow="fold")
    table.add_column("", overflow="fold")
    table.add_column("posterior" if has_posteriors else "", justify="right", no_wrap=True)
    ends = ("first end", "second end") if learned.summarises_ends else ()
    for end in ends:
        table.add_column(end, justify="right", no_wrap=True)
    effects = learned.effect_in_short
    has_effects = any(effects.values())  # of very large networks they are not known
    if has_effects:
        table.add_column("effect", no_wrap=True)
    if learned.untested:
        table.add_column("", no_wrap=True)
    shown, untested = learned.strongest(top), set(learned.untested)
    for x, y, log_xy, log_yx in shown:
        effect = (effects[x, y],) if has_effects else ()
        mark = ("untested",) if (x, y) in untested else ()
        table.add_row(x, y, _posterior(log_xy, log_yx), *_ends(log_xy, log_yx, ends), *effect, *mark)
        for stays, comes, _ in learned.stand_ins(x, y):
            table.add_row(f"  or {stays}", comes, "", style="dim")
    if learned.graph.n_edges > len(shown):
        table.add_row(f"... and {learned.graph.n_edges - len(shown):,} more", "", "", style="dim")
    misses = [row for row in found.first(0, near_misses) if math.exp((row[2] + row[3]) / 2) >= UNDECIDED[0]]
    if misses:
        sure = any((row[2] + row[3]) / 2 > math.log(UNDECIDED[1]) for row in misses)
        table.add_section()
        table.add_row("most probable of the others" if sure else "undecided pairs", "", "", style="dim")
    for x, y, log_xy, log_yx in misses:
        table.add_row(x, y, _posterior(log_xy, log_yx), *_ends(log_xy, log_yx, ends), style="dim")
    return table


def effects_in_words(learned: "Learned", levels: Mapping[str, Sequence[object]], top: int) -> str:
    """Return how to read the effects that the table of edges shows; "" if there are none."""
    shown = [(x, y, learned.effect_in_short[x, y]) for x, y, _, _ in learned.strongest(top)]
    text = " ".join(effect for _, _, effect in shown)
    odds = [name for x, y, effect in shown if effect.startswith("odds") for name in (x, y)]
    binary = [f"{name}={levels[name][1]}" for name in dict.fromkeys(odds) if len(levels.get(name, ())) == 2]
    parts = [
        "everything else equal",
        *["±: standard error"] * ("±" in text),
        *["in brackets: 95 % interval"] * bool(re.search(r"\(\S+ to \S+\)", text)),
        *["SD: standard deviation"] * (" SD" in text),
        *["V: Cramér's V"] * bool(re.search(r"\bV \d", text)),
        *["strength: from 0 to 1"] * ("strength " in text),
        *[f"odds: of {first_few(binary, SEVERAL)}"] * bool(binary),
    ]
    return f"Effect: {'; '.join(parts)}." if text.strip() else ""


def _ends(log_xy: float, log_yx: float, shown: Sequence[str]) -> list[str]:
    """Return what either end says, if that is shown."""
    return [probability(log_xy), probability(log_yx)] if shown else []


def _posterior(log_xy: float, log_yx: float) -> str:
    """Return the posterior of an edge: the geometric mean of its two ends' posteriors."""
    log_p = (log_xy + log_yx) / 2
    return "" if math.isnan(log_p) else probability(log_p)


@contextmanager
def progress() -> Iterator[Any]:
    """Show a line while the block runs, if stderr is a terminal; yields a callback for steps, or None.

    The callback only notes the last step; a thread draws it a few times a second.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.live import Live

    line = _Line()
    with Live(line, console=console(stderr=True), transient=True, refresh_per_second=8):
        yield line


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show how many of how many are done, if stderr is a terminal; yields who is told, or None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


class _Bare:
    """A stream for files and pipes: no blanks at the ends of lines, with which tables are filled up."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with writing():
            self._stream.write(BLANKS.sub("", text))
        return len(text)

    def flush(self) -> None:
        with writing():
            self._stream.flush()


class _Line:
    """The line itself: it draws what it knows when it is asked to."""

    def __init__(self) -> None:
        self._began = perf_counter()
        self._edges: int | None = None  # unknown if the search goes on from a checkpoint
        self._last: Step | Visit | None = None

    def __call__(self, step: "Step | Visit") -> None:
        self._last = step
        if hasattr(step, "neighbours"):
            return
        if step.n == 1:
            self._edges = 0
        if self._edges is not None:
            self._edges += 1 if step.added else -1

    def __rich__(self) -> str:
        seconds = perf_counter() - self._began
        if self._last is not None and hasattr(self._last, "neighbours"):
            return f"learning: {counted(self._last.n, 'variable')} visited, {seconds:.0f} s"
        if self._last is not None:
            edges = "" if self._edges is None else f" {counted(self._edges, 'edge')},"
            ascents, score = counted(self._last.n, "ascent"), f"{self._last.score:.3f}"
            return f"learning: {ascents},{edges} score {score}, {seconds:.0f} s"
        return f"learning: scoring all pairs ... {seconds:.0f} s"
