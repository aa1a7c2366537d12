"""The typer application: which verbs there are, and what becomes of their errors."""

import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ibmap import __version__
from ibmap._text import visible
from ibmap.cli.ask import ask
from ibmap.cli.bootstrap import bootstrap
from ibmap.cli.compare import compare
from ibmap.cli.convert import convert
from ibmap.cli.demo import demo
from ibmap.cli.describe import describe
from ibmap.cli.endings import ended
from ibmap.cli.evaluate import evaluate
from ibmap.cli.explain import explain
from ibmap.cli.fit import fit
from ibmap.cli.groups import Verb, expanded
from ibmap.cli.impute import impute
from ibmap.cli.interactions import interactions
from ibmap.cli.interrupts import leave, say_interrupted
from ibmap.cli.learn import learn
from ibmap.cli.messages import arguments_of, in_options
from ibmap.cli.optimize import optimize
from ibmap.cli.pack import pack
from ibmap.cli.plot import plot
from ibmap.cli.report import report
from ibmap.cli.reproduce import reproduce
from ibmap.cli.sample import sample
from ibmap.cli.score import score
from ibmap.cli.screen import give_up_stdout
from ibmap.cli.simulate import simulate
from ibmap.cli.test import answer
from ibmap.errors import DataWarning, IbmapError, RequestError, SearchWarning, UnknownVariableError

HELP = {"help_option_names": ["-h", "--help"]}
COLOURS = {"warning": "33", "error": "31"}  #: of a terminal: yellow, red
USAGE = 2  #: the exit code of a command that makes no sense; 1 is for tables and files that do not do
ASKED = (RequestError, UnknownVariableError)
TOLD = (DataWarning, SearchWarning)  #: warnings that people see, on one line


class Verbs(TyperGroup):
    """Run a verb: errors that a user can mend are one line, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb that was asked for."""
        try:
            with warnings.catch_warnings():
                for kind in TOLD:
                    warnings.simplefilter("always", kind)
                warnings.showwarning = lambda message, kind, *_, **__: self._warn(ctx, message, kind)
                with ended():  # what is closed may warn, too
                    return super().invoke(ctx)
        except BrokenPipeError:  # the reader has seen enough; typer knows what to do
            raise
        except (IbmapError, OSError) as error:
            leave()  # if a signal was heard, the error is a part of the end
            say("error", self._in_options(ctx, _words(error)))
            asked = isinstance(error, ASKED) and not isinstance(error.__context__, OSError)
            raise typer.Exit(USAGE if asked else 1) from None
        except (OverflowError, RecursionError) as error:
            say("error", f"a number is too large, or something is nested too deeply: {error}")
            raise typer.Exit(1) from None
        except MemoryError:
            say("error", "not enough memory for this table")
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            say_interrupted()
            raise typer.Exit(130) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Show the verbs by task."""
        for task, names in TASKS.items():
            rows = [(name, self.commands[name].get_short_help_str(90)) for name in names]
            with formatter.section(task):
                formatter.write_dl(rows)

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the arguments; Ctrl-C is answered meanwhile as it always is."""
        try:
            return super().make_context(*arguments, **more)
        except KeyboardInterrupt:
            say_interrupted()
            sys.exit(130)
        except BrokenPipeError:
            raise
        except OSError as error:  # help, or the version
            give_up_stdout()
            say("error", f"cannot write to stdout: {error.strerror or error}")
            sys.exit(1)

    def _warn(self, ctx: Any, message: Warning | str, kind: type[Warning]) -> None:
        if issubclass(kind, TOLD):
            say("warning", self._in_options(ctx, str(message)))

    def _in_options(self, ctx: Any, message: str) -> str:
        verb = self.get_command(ctx, ctx.invoked_subcommand or "")
        return in_options(message, arguments_of(verb)) if verb is not None else message


def say(kind: str, message: str) -> None:
    """Write one line to stderr, in colour where somebody looks on."""
    line = f"ibmap: {kind}: {visible(' '.join(message.splitlines()))}"
    if sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        line = f"\x1b[{COLOURS[kind]}m{line}\x1b[0m"
    sys.stderr.write(f"{line}\n")


def _words(error: Exception) -> str:
    """Return what a user should know about an error."""
    if isinstance(error, OSError):
        where = f"{str(error.filename)!r}: " if error.filename is not None else ""
        return f"{where}{error.strerror or error}"
    return str(error)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ibmap {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Verbs,
    help="Learn the structure of a Markov network from a table, and how far to trust each edge.",
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of ``ibmap`` itself."""


#: verbs by what they are for, in the order of the help
TASKS = {
    "Learn a network": ("learn", "pack", "explain", "report", "plot", "bootstrap", "compare"),
    "Ask a table": ("test", "interactions"),
    "Use it": ("fit", "ask", "sample", "impute", "score", "evaluate", "convert"),
    "Try, simulate, optimise": ("demo", "simulate", "optimize"),
    "Reproduce the paper": ("reproduce", "describe"),
}
#: each with its line in the help
VERBS: dict[str, tuple[Callable[..., None], str]] = {
    "learn": (learn, "Learn a network from a table."),
    "explain": (explain, "Explain why two variables are adjacent in a result, or why they are not."),
    "report": (report, "Write a page that shows a result in a browser."),
    "plot": (plot, "Draw a network."),
    "bootstrap": (bootstrap, "Learn from resampled tables and show how often each edge is found."),
    "compare": (compare, "Show which edges differ between two groups."),
    "fit": (fit, "Fit a model with the structure of a network."),
    "ask": (ask, "Ask a model for the probabilities of a variable, given others."),
    "sample": (sample, "Draw rows from a model."),
    "impute": (impute, "Fill the missing values of a table with a model."),
    "score": (score, "Show how probable the rows of a table are in a model, and which are odd."),
    "test": (answer, "Test whether two variables are independent, given others."),
    "interactions": (interactions, "List triples of variables that are informative only together."),
    "evaluate": (evaluate, "Compare a network with the truth, or with new data."),
    "pack": (pack, "Pack a large table into a file that opens at once."),
    "convert": (convert, "Write a network in another format."),
    "demo": (demo, "See it work on made-up people whose network is known."),
    "optimize": (optimize, "Search for the best bit string with learned networks."),
    "describe": (describe, "Show what a preset sets, and why."),
    "reproduce": (reproduce, "Run the experiments of the paper, and check its claims."),
}
for name, (verb, line) in VERBS.items():
    app.command(name, cls=Verb, help=line, context_settings=HELP)(expanded(verb))
simulate.info.context_settings = HELP
app.add_typer(simulate, name="simulate", help="Draw data from a network that is known.")
