"""Bad input gets one line and exit code 1, and nothing is written or overwritten (see ``refused``)."""

import gzip
import os
import subprocess
import sys

import pytest

from ibmap.cli.learn import FILES

PAPER = ["--learner", "ibmap-hc"]


@pytest.fixture
def table(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "table.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_missing_file(refused, tmp_path):
    assert "there is no file" in refused(tmp_path / "nowhere.csv")


def test_a_folder_instead_of_a_file(refused, tmp_path):
    assert "is a directory" in refused(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a,b\n", "a header but no rows"),
        ("a\n1\n2\n", "at least two variables"),
        ("a,b,a\n1,2,3\n4,5,6\n", "'a'"),
        ("a,b\n1,2\n3\n", "line 3 of table.csv has 1 field where the header has 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 of table.csv has 3 fields where the header has 2"),
        (b"a,b\ncaf\xe9,2\nx,4\n", "is not UTF-8 text (line 2, byte 0xe9)"),
        ("a,b\n1.0,2\ninf,4\n2.0,3\n", "column 'a' holds infinite values"),
        ("a,b\n1.0,2\n-inf,4\n2.0,3\n", "column 'a' holds infinite values"),
    ],
)
def test_table_that_cannot_be_used(refused, table, content, words):
    assert words in refused(table(content))


@pytest.mark.parametrize("policy", ["drop", "category", "testwise"])
def test_infinities_are_refused_under_every_policy(refused, table, policy):
    path = table("a,b\n1.0,2\ninf,4\nNaN,3\n")
    assert "infinite values" in refused(path, "--missing", policy, "--discretize", "quantile")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--require", "smoke,tee"], "there is no variable 'tee'; did you mean 'tea'?"),
        (["--require", "smoke"], "--require takes two variables"),
        (["--require", "smoke,smoke"], "two different variables"),
        (["--require", "smoke,tea", "--forbid", "tea,smoke"], "both required and forbidden"),
        (["--learner", "hc"], "unknown learner 'hc'; there are evidence-map, ibmap-hc"),
        ([*PAPER, "--test", "guess"], "unknown test 'guess'; there are bayesian, chi-square"),
        ([*PAPER, "--test", "chi-square"], "IBMAP-HC sums log posteriors"),
        (["--test", "g-square"], "evidence-map uses no test: leave out --test, or choose --learner ibmap-hc"),
        (["--ties", "dependent"], "evidence-map uses no test: leave out --ties"),
        ([*PAPER, "--test", "g-square", "--prior", "0.3"], "g-square has no option --prior"),
        (["--prior", "1"], "strictly between 0 and 1"),
        ([*PAPER, "--prior-counts", "none"], "--prior-counts must be"),
        ([*PAPER, "--prior-counts", "-1"], "--prior-counts must be positive"),
        ([*PAPER, "--combine", "sum"], "combine must be 'slices' or 'global'"),
        ([*PAPER, "--slices", "some"], "slices must be 'observed' or 'all'"),
        (["--patience", "3"], "evidence-map has no option --patience; ibmap-hc has"),
        ([*PAPER, "--patience", "-1"], "patience must be 0 or more"),
        (["--missing", "guess"], "missing must be"),
        (["--discretize", "guess"], "discretize must be"),
        (["--bins", "3"], "--bins 3 needs a method: pass --discretize"),
        (["--jobs", "0"], "--jobs must not be 0"),
        (["--start", "nowhere.json"], "there is no file 'nowhere.json'"),
    ],
)
def test_request_that_makes_no_sense(refused, survey, options, words):
    assert words in refused(survey, *options)


def test_start_graph_that_is_none(refused, survey):
    assert "does not hold a graph" in refused(survey, "--start", survey)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (["smoke", "couhg"], "there is no variable 'couhg'; did you mean 'cough'?"),
        (["smoke", "tea", "--given", "couhg"], "did you mean 'cough'?"),
        (["tea", "tea"], "X and Y are both 'tea'"),
        (["smoke", "tea", "--given", "smoke"], "variable 'smoke' is both tested and given"),
        (["smoke", "tea", "--given", "cough,tea"], "variable 'tea' is both tested and given"),
        (["smoke", "tea", "--given", "cough,cough"], "variable 'cough' is given twice"),
        (["smoke", "tea", "--test", "chi-square", "--alpha", "2"], "alpha must lie between 0 and 1"),
    ],
)
def test_question_that_makes_no_sense(refused, survey, question, words):
    assert words in refused(survey, *question, verb="test")


def test_output_folder_that_cannot_be_written(ibmap, survey):
    before = survey.read_bytes()
    for out in (survey, survey / "result"):
        ran = ibmap("learn", survey, "--out", out)
        assert ran.refuses("cannot write", repr(str(out)))
    assert survey.read_bytes() == before


def test_output_file_whose_name_is_taken_by_a_folder(ibmap, survey, tmp_path):
    (tmp_path / "out" / "edges.csv").mkdir(parents=True)
    ran = ibmap("learn", survey, "--out", tmp_path / "out")
    assert ran.code == 2
    assert "it is a folder" in ran.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["edges.csv"]


def test_identifier_is_allowed_with_a_warning(ibmap, table, tmp_path):
    rows = [f"{i},{i % 2},{i % 3}" for i in range(30)]
    named = table("\n".join(["id,a,b", *rows]))
    ran = ibmap("learn", named, "--only", "id,a,b", "--out", tmp_path / "out", "--json")
    assert ran.code == 0
    assert ran.warns("'id' is numeric; 'a', 'b' are categorical", kind="note")
    assert ran.out.startswith('{"variables": ["id", "a", "b"]')
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == sorted(FILES)


def test_a_missing_line_of_names_is_told_before_what_comes_of_it(ibmap, table):
    rows = "39, State-gov, Male\n50, ?, Male\n38, State-gov, Female\n"
    ran = ibmap("learn", table(rows), "--learner", "ibmap-hc")
    assert ran.code == 1
    warning, error = ran.err.splitlines()
    assert warning.startswith("ibmap: warning: the first line of")
    assert error.startswith("ibmap: error: missing values (NaN, null or empty cells) in 'State-gov' (1): ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n,4\n", "missing values (NaN, null or empty cells) in 'a' (1): pass --missing 'drop'"),
        ("a,b\n1.0,2\nNaN,4\n", "missing values (NaN, null or empty cells) in 'a' (1)"),
        ("a,b\n1.25,2\n2.5,4\n", "it looks continuous: pass --discretize 'equal-width' or 'quantile'"),
    ],
)
def test_tables_that_the_learners_of_the_paper_refuse(ibmap, table, content, words):
    assert ibmap("learn", table(content), "--learner", "ibmap-hc").refuses(words)
    assert ibmap("learn", table(content)).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["learn"],
        ["learn", "x.csv", "--nothing"],
        ["fly"],
        ["learn", "x.csv", "--bins", "many"],
        ["learn", "x.csv", "--bins", "age=2,pay"],
    ],
)
def test_usage_errors_leave_with_2(ibmap, arguments):
    ran = ibmap(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    "more",
    [
        ["--patience", 10**20],
        ["--jobs", 10**20],
        ["--top", 10**20],
        ["--discretize", "quantile", "--bins", 10**7],
        ["--discretize", "equal-width", "--bins", f"cough={10**20}"],
    ],
)
def test_numbers_beyond_reason(ibmap, survey, more):
    assert ibmap("learn", survey, *more).refuses("must be at most")


def test_queries_and_settings_beyond_reason(ibmap, survey, tmp_path):
    out = tmp_path / "out"
    assert ibmap("learn", survey, "--out", out).code == 0
    assert ibmap("evaluate", out, "--data", survey, "--queries", 10**20).refuses("--queries must be at most")
    for change, words in (
        ("log_odds=nan", "takes a finite number"),
        ("log_odds=1e999", "takes a finite number"),
        (f"sweeps={10**20}", "must be at most"),
    ):
        again = ["reproduce", "random-hamming", "--quick", "--out", tmp_path / "rows", "--set", change]
        assert ibmap(*again).refuses(words, change.partition("=")[0])
    assert not (tmp_path / "rows").exists()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"variables": ' + "[" * 100_000, "9" * 5000])
def test_files_that_are_nested_too_deeply(ibmap, survey, tmp_path, text):
    path = tmp_path / "deep.json"
    path.write_text(text)
    assert ibmap("learn", survey, "--start", path).refuses("does not hold a graph")
    assert ibmap("learn", survey, "--checkpoint", path).refuses("is not a checkpoint")
    for verb in (["convert", path, "-", "--to", "dot"], ["report", path], ["explain", path, "a", "b"]):
        assert ibmap(*verb).code == 1


def test_endless_input_and_what_unzips_to_it(ibmap, tmp_path, monkeypatch):
    monkeypatch.setenv("IBMAP_MAX_BYTES", "1000000")
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"a,b\n" + b"0,1\n" * 10**6))
    for path in ("/dev/zero", bomb):
        assert ibmap("learn", path).refuses("more than 1,000,000 bytes", "IBMAP_MAX_BYTES")
    monkeypatch.setenv("IBMAP_MAX_BYTES", "10000000")
    assert ibmap("learn", bomb).code == 0


def test_no_file_is_read_without_end(ibmap, survey, tmp_path, monkeypatch):
    monkeypatch.setenv("IBMAP_MAX_BYTES", "1000000")
    known = {end: tmp_path / f"known.{end}" for end in ("csv", "toml", "json", "graphml")}
    for path in known.values():
        path.symlink_to("/dev/zero")
    for verb in (
        *(["learn", survey, f"--{option}", path] for option, path in (
            ("prior", known["csv"]), ("knowledge", known["csv"]), ("knowledge", known["toml"]),
            ("start", known["json"]), ("checkpoint", known["json"]),
        )),
        *([verb, known["json"], *more] for verb, more in (
            ("explain", ["smoke", "tea"]), ("report", ["--out", tmp_path / "page.html"]),
            ("plot", [tmp_path / "plot.png"]), ("plot", [tmp_path / "plot.png", "--scores"]),
            ("convert", ["-", "--to", "dot"]), ("evaluate", ["--data", survey]),
        )),
        ["convert", known["csv"], "-", "--to", "dot"],
        ["convert", known["graphml"], "-", "--to", "dot"],
    ):  # fmt: skip
        assert ibmap(*verb).refuses("more than 1,000,000 bytes", "IBMAP_MAX_BYTES"), verb


def test_keys_that_would_take_gigabytes(ibmap, survey, tmp_path):
    path = tmp_path / "known.toml"
    path.write_text("a." * 50_000 + "a = 1\n")
    assert ibmap("learn", survey, "--knowledge", path).refuses("a key of more than 16 parts")
    path.write_text('forbidden = [["smoke", "tea"]] # ' + "a." * 3 + "\n")
    assert ibmap("learn", survey, "--knowledge", path).code == 0


def test_a_name_does_nothing_to_a_terminal(ibmap, tmp_path):
    name = "\x1b[31m\x9b31mred\u202e"
    path = tmp_path / "red.csv"
    path.write_text(f"{name},b\n" + "0,0\n1,1\n" * 20)
    for arguments in (["learn", path], ["test", path, name, "b"], ["test", path, name, "c"]):
        ran = ibmap(*arguments)
        assert "red" in ran.out + ran.err
        assert not set("\x1b\x9b\u202e") & set(ran.out + ran.err)


def test_streams_that_cannot_show_a_name(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("caf\u00e9,b\n" + "0,0\n1,1\n" * 20 + "0,1\n")
    command = [sys.executable, "-m", "ibmap.cli", "learn", str(path)]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run(command, env=ascii_only, capture_output=True, text=True, check=True)
    assert (ran.stderr, r"caf\xe9" in ran.stdout) == ("", True)
    shell = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    ran = subprocess.run(shell, stderr=subprocess.PIPE, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "ibmap: error: stdout is closed: nothing could be shown\n")
