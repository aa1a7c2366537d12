"""``ibmap optimize``: what people see."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

ONEMAX = ["optimize", "onemax", "--bits", 20, "--population", 100]


def test_onemax(ibmap):
    ran = ibmap(*ONEMAX, "--seed", 1)
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "found the optimum: best 20 (the optimum is 20)"
    assert lines[1] == "1" * 20
    assert "of onemax with 20 bits in " in lines[2]
    assert lines[2].endswith("stopped by: target")
    assert lines[3].startswith("ibmap-hc: ")
    assert "0 true interactions, F " in lines[3]


def test_json_says_all_and_the_seed_decides(ibmap):
    first, again, other = (
        json.loads(ibmap(*ONEMAX, "--json", "--seed", seed, "--learner", "mi").out) for seed in (1, 1, 2)
    )
    assert first["best"] == first["optimum"] == sum(first["solution"]) == 20
    assert (first["learner"], first["stopped_by"]) == ("mi", "target")
    assert [row["generation"] for row in first["history"]] == list(range(first["generations"] + 1))
    for result in (first, again, other):
        result.pop("seconds")
        for row in result["history"]:
            row.pop("seconds")
    assert first == again != other


@pytest.mark.parametrize("learner", ["ibmap-hc", "mi", "none"])
@pytest.mark.parametrize(
    ("problem", "bits", "more"),
    [
        ("royal-road", 12, ["--set", "gamma=3"]),
        ("trap", 9, ["--set", "k=3", "--set", "shuffled=true"]),
        ("nk", 10, []),
        ("spin-glass", 9, []),
        ("max-cut", 10, ["--set", "degree=2.5"]),
        ("leading-ones", 8, []),
    ],
)
def test_every_problem(ibmap, problem, bits, more, learner):
    ran = ibmap(
        "optimize", problem, "--bits", bits, *more, "--learner", learner, "--generations", 20, "--json"
    )
    assert ran.code == 0
    result = json.loads(ran.out)
    assert result["problem"] == problem
    assert result["best"] <= result["optimum"] + 1e-9


@pytest.mark.parametrize("symmetry", ["or", "and", "own"])
def test_options_of_mi(ibmap, symmetry):
    more = ["--learner", "mi", "--max-neighbours", 2, "--symmetry", symmetry, "--sampling", "conditional"]
    ran = ibmap(*ONEMAX, *more, "--evaluations", 150, "--json")
    assert json.loads(ran.out)["evaluations"] == 150


@pytest.mark.parametrize(
    "options",
    [
        ["--learner", "ibmap-hc", "--patience", 3],
        ["--learner", "gsmn", "--symmetry", "and"],
        ["--learner", "hhc-mn", "--max-condition", 1],
        ["--learner", "mi", "--factor", 2.0, "--symmetry", "own"],
    ],
)
def test_options_of_every_learner(ibmap, options):
    ran = ibmap(*ONEMAX, *options, "--generations", 2, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["learner"] == options[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["optimize", "sudoku", "--bits", 9], "unknown problem 'sudoku'; there are onemax"),
        (["optimize", "onemax", "--bits", 0], "onemax needs a whole number of bits"),
        (["optimize", "royal-road", "--bits", 10], "10 bits is not a multiple of it"),
        ([*ONEMAX, "--set", "gamma=2"], "onemax has no option 'gamma'"),
        ([*ONEMAX, "--set", "gamma"], "--set takes NAME=VALUE"),
        ([*ONEMAX, "--set", "n=4"], "onemax has no option 'n'"),
        ([*ONEMAX, "--set", "random_state=4"], "--seed draws the problem, too"),
        ([*ONEMAX, "--population", 2], "a population of 2 is too small"),
        ([*ONEMAX, "--population", -2], "--population must be 1 or more, a whole number"),
        ([*ONEMAX, "--learner", "best"], "unknown learner 'best'"),
        ([*ONEMAX, "--symmetry", "own"], "ibmap-hc has no option --symmetry"),
        ([*ONEMAX, "--learner", "gsmn", "--symmetry", "own"], "is an option of mi, not of gsmn"),
        ([*ONEMAX, "--learner", "none", "--patience", 3], "none has no option --patience"),
        ([*ONEMAX, "--learner", "mi", "--symmetry", "xor"], "symmetry must be"),
        ([*ONEMAX, "--learner", "mi", "--max-neighbours", -1], "--max-neighbours must be 0 or more"),
        ([*ONEMAX, "--sampling", "exact"], "unknown sampling 'exact'"),
    ],
)
def test_bad_requests_are_one_line(ibmap, arguments, words):
    ran = ibmap(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("ibmap: error: ")
    assert ran.err.count("\n") == 1
    assert words in ran.err


@pytest.mark.parametrize("arguments", [["optimize"], ["optimize", "onemax"], [*ONEMAX, "--seed", -1]])
def test_usage_errors_leave_with_2(ibmap, arguments):
    assert ibmap(*arguments).code == 2


def test_a_terminal_shows_a_line_that_moves():
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ibmap", *map(str, ONEMAX), "--population", "800"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
    os.close(ours)
    assert process.returncode == 0
    assert b"optimising ..." in seen
    assert re.search(rb"generation \d, [\d,]+ evaluations, best 20 of 20, \d+ edges?", seen)
