"""Do the tests notice? Change the library at random places, one at a time, and run the tests that come there.

``make mutants``, or ``.venv/bin/python tools/mutate.py --count 100 --seed 0``. All happens in a copy of
the sources, so that the checkout stays as it is. The tests run once as they are, which shows what functions
each of them calls (``touched.py``). For a mutant those run that call its function, the shortest first, up to
``--seconds``; for one outside of functions, those that call any function of the file. A mutant that no test
notices is shown, and the command ends with 1 if there are more than ``--most`` of them in a hundred.
"""

import argparse
import ast
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("criteria", "search", "results", "model", "data")
#: left out are tests of other machinery, and of what is built upon these packages
TESTS = (
    *(f"src/ibmap/{package}" for package in PACKAGES),  # examples in docstrings
    *(f"tests/{package}" for package in PACKAGES),
    "tests/learners",
    "tests/exchange",
    "tests/cli/test_bad_input.py",
    "tests/cli/test_columns.py",
    "tests/cli/test_compare.py",
    "tests/cli/test_doubts.py",
    "tests/cli/test_explain.py",
    "tests/cli/test_identifiers.py",
    "tests/cli/test_interactions.py",
    "tests/cli/test_knowledge.py",
    "tests/cli/test_learn.py",
    "tests/cli/test_model.py",
    "tests/cli/test_numbers.py",
    "tests/cli/test_ordinal.py",
    "tests/cli/test_pack.py",
    "tests/cli/test_question.py",
    "tests/cli/test_weights.py",
    "tests/core",
    "tests/engines/test_agreement.py",
    "tests/test_log_score.py",
    "tests/test_odd_calls.py",
)
#: what tests import of others, but for plugins of pytest; a process that has them is split for every mutant
LIBRARIES = (
    "narwhals",
    "networkx",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "scipy.stats",
    "sklearn.utils.estimator_checks",
    "typer.testing",
)
COMPARE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "touched", "--doctest-modules")
#: the copy is found first, although the checkout is installed in place
FIND_COPY = """
import sys
sys.meta_path = [one for one in sys.meta_path if "editable" not in type(one).__module__]
"""


HANGS = 3  #: times what its tests take as they are, after which a mutant that goes on for ever is noticed


class Mutant(NamedTuple):
    """What stands somewhere, and what stands there instead."""

    path: Path  #: within the package
    line: int
    start: int  #: byte of the file
    end: int
    before: str
    after: str
    function: int  #: the first line of the function that it is in; 0 if it is in none

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"


def changed(node: ast.AST) -> ast.AST | None:
    """Return the node with something else in it; None if there is nothing to change."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARE:
        return ast.Compare(node.left, [COMPARE[type(node.ops[0])]()], node.comparators)
    if (
        isinstance(node, ast.BinOp)
        and type(node.op) in ARITHMETIC
        and not isinstance(node.left, ast.JoinedStr)
    ):
        return ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return node.operand
    if isinstance(node, ast.IfExp):
        return ast.IfExp(node.test, node.orelse, node.body)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
        return ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
    return None


def skipped(node: ast.AST) -> bool:
    """Whether nothing below is changed: words of errors, types, guards (``zip(..., strict=True)``), and
    numbers that say how much is done at a time (``AT_ONCE``), which change time and memory, no answer.
    """
    if isinstance(node, ast.keyword) and node.arg in ("strict", "stacklevel"):
        return True
    if isinstance(node, ast.Assign) and "AT_ONCE" in ast.unparse(node.targets[0]).upper():
        return True
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.AnnAssign | ast.arguments):
        return not isinstance(node, ast.AnnAssign)
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def nodes(tree: ast.AST, function: int = 0) -> Iterator[tuple[ast.AST, int]]:
    """Yield all that may be changed, with the first line of the function that it is in."""
    for name, field in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases", "keywords") and not isinstance(
            tree, ast.Call
        ):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST) and not skipped(child):
                inside = function
                if isinstance(child, ast.FunctionDef):
                    inside = min(part.lineno for part in (child, *child.decorator_list))
                yield child, inside
                # reshape(-2) is reshape(-1): any negative number is the size that follows from the others
                is_reshape = isinstance(tree, ast.Call) and ast.unparse(tree.func).endswith(".reshape")
                if not (is_reshape and ast.unparse(child) == "-1"):
                    yield from nodes(child, inside)


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of a file."""
    raw = (ROOT / "src/ibmap" / path).read_bytes()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, function in nodes(ast.parse(raw)):
        other = changed(node)
        if other is not None and isinstance(node, ast.expr) and node.end_lineno and node.end_col_offset:
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            before = " ".join(raw[start:end].decode().split())
            yield Mutant(path, node.lineno, start, end, before, f"({ast.unparse(other)})", function)


class Suite:
    """The tests, and what functions each of them calls."""

    def __init__(self, copy: Path, folder: Path, jobs: int, tests: Sequence[str]) -> None:
        self.copy, self.chosen, self.killer = copy, folder / "chosen", folder / "killer"
        path = f"{copy / 'src'}:{ROOT / 'tools'}"
        subprocess.run(
            [sys.executable, "-m", "pytest", *OPTIONS, "-n", str(jobs), *tests],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "IBMAP_NOTE": str(folder)},
            stdout=subprocess.DEVNULL,
        )
        notes = [pickle.loads(file.read_bytes()) for file in folder.iterdir()]
        self.seconds = {test: seconds for one in notes for test, (seconds, _) in one.items()}
        self._of: dict[tuple[str, int], list[str]] = defaultdict(list)
        for one in notes:
            for test, (_, called) in one.items():
                for path, line in called:
                    self._of[path, line].append(test)
                for path in {path for path, _ in called}:
                    self._of[path, 0].append(test)

    @property
    def killed_by(self) -> str:
        """The test that failed first, "" if none did."""
        return self.killer.read_text() if self.killer.exists() else ""

    def of(self, mutant: Mutant | None, most: float) -> list[str]:
        """Return the tests that come where the mutant is, the shortest first, up to some seconds."""
        found = self._of[str(mutant.path), mutant.function] if mutant else list(self.seconds)
        tests = sorted(found, key=lambda test: self.seconds[test])
        until = accumulate(self.seconds[test] for test in tests)
        return [test for test, seconds in zip(tests, until, strict=True) if seconds <= most]

    def outcome(self, mutant: Mutant | None, most: float) -> str:
        """Run them in the copy, with the mutant: is it killed, or has it survived?"""
        tests = self.of(mutant, most)
        self.killer.unlink(missing_ok=True)
        self.chosen.write_text("\n".join(tests))
        if not tests:
            return "unseen"
        if mutant is None:
            return self._ended(tests, most)
        file = self.copy / "src/ibmap" / mutant.path
        raw = file.read_bytes()
        file.write_bytes(raw[: mutant.start] + mutant.after.encode() + raw[mutant.end :])
        try:
            return self._ended(tests, most)
        finally:
            file.write_bytes(raw)

    def _ended(self, tests: Sequence[str], most: float) -> str:
        """Run tests in a process of their own; return how it ended."""
        seconds = 30 + HANGS * sum(self.seconds[test] for test in tests)
        child = os.fork() or self._run(sorted({test.partition("::")[0] for test in tests}), int(seconds))
        until = time.monotonic() + 10 * most + 60
        while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < until:
            time.sleep(0.1)
        if ended[0]:
            return {0: "survived", 5: "unseen"}.get(os.waitstatus_to_exitcode(ended[1]), "killed")
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "late"  # it sleeps, or the machine is busy

    def _run(self, files: list[str], seconds: int) -> NoReturn:
        """Be the process that runs the tests that are chosen, in the copy, and ends as they do."""
        code = 1
        try:
            os.setsid()
            used = int(time.process_time())
            resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds + 5))
            os.chdir(self.copy)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            os.environ["IBMAP_CHOSEN"] = str(self.chosen)
            sys.meta_path = [one for one in sys.meta_path if "editable" not in type(one).__module__]
            sys.path[:0] = [str(self.copy), str(self.copy / "src"), str(ROOT / "tools")]
            code = int(pytest.main([*OPTIONS, "-x", "-p", "no:xdist", *files]))
        finally:
            os._exit(code)


def main() -> int:
    """Draw mutants, and show those that no test notices."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="leave out so many of those that were drawn")
    parser.add_argument(
        "--seconds", type=float, default=120, help="of a processor, for the tests of a mutant"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes that run the tests as they are")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files and folders of tests")
    parser.add_argument("--most", type=int, default=10, help="survivors in a hundred")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    for library in LIBRARIES:
        import_module(library)
    source = ROOT / "src/ibmap"
    files = [f.relative_to(source) for package in PACKAGES for f in sorted((source / package).rglob("*.py"))]
    every = [mutant for file in files for mutant in mutants(file)]
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))[options.first :]
    print(f"{len(drawn)} of {len(every):,} mutants, seed {options.seed}", flush=True)
    alive = []
    with tempfile.TemporaryDirectory(prefix="ibmap-mutants-") as folder:
        copy = Path(folder)
        for name in ("src", "tests", "examples", "docs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "src/sitecustomize.py").write_text(FIND_COPY)
        for name in ("pyproject.toml", "README.md", "Makefile", "CONTRIBUTING.md", "CHANGELOG.md"):
            shutil.copy(ROOT / name, copy / name)
        notes = copy / "notes"
        notes.mkdir()
        suite = Suite(copy, notes, options.jobs, options.tests)
        print(f"{len(suite.seconds):,} tests, {sum(suite.seconds.values()):.0f} s", flush=True)
        if suite.outcome(None, options.seconds) != "survived":
            sys.exit(f"this fails without any mutant: {suite.killed_by or 'pytest'}")
        for mutant in drawn:
            found = suite.outcome(mutant, options.seconds)
            by = f" by {suite.killed_by}" if suite.killed_by else ""
            print(f"{found:8} {mutant}{by}", flush=True)
            if found != "killed":
                alive.append(f"{found} {mutant}")
    print(f"{len(drawn) - len(alive)} of {len(drawn)} killed", *alive, sep="\n  ")
    return int(len(alive) * 100 > options.most * len(drawn))


if __name__ == "__main__":
    sys.exit(main())
