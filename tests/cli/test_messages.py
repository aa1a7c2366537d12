"""Messages name options, as they are typed, not arguments of Python."""

import pytest
from typer.main import get_command

from ibmap.cli.app import app
from ibmap.cli.messages import arguments_of, in_options

LEARN = arguments_of(get_command(app).commands["learn"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            ["--missing", "none"],
            "--missing must be 'error', 'drop', 'category', 'testwise', 'question', "
            "'impute' or 'auto', not 'none'",
        ),
        (["--discretize", "kmeans"], "--discretize must be 'equal-width' or 'quantile', not 'kmeans'"),
        (["--discretize", "quantile", "--bins", 1], "--bins must be at least 2, not 1"),
        (["--bins", 3], "--bins 3 needs a method: pass --discretize 'equal-width' or 'quantile'"),
        (["--bins", "smoke=3"], "--bins 3 needs a method: pass --discretize"),
        (["--learner", "ibmap-hc", "--patience", -1], "--patience must be 0 or more, a whole number, not -1"),
        (["--jobs", 0], "--jobs must not be 0"),
        (
            ["--learner", "ibmap-hc", "--combine", "both"],
            "--combine must be 'slices' or 'global', not 'both'",
        ),
        (["--learner", "ibmap-hc", "--slices", "some"], "--slices must be 'observed' or 'all', not 'some'"),
        (
            ["--learner", "ibmap-hc", "--ties", "yes"],
            "--ties must be 'independent' or 'dependent', not 'yes'",
        ),
        (
            ["--learner", "ibmap-hc", "--prior-counts", "two"],
            "--prior-counts must be a positive number or one of",
        ),
        (["--learner", "mi", "--factor", -1], "--factor must be a number, 0 or more, not -1"),
        (
            ["--learner", "mi", "--max-neighbours", -1],
            "--max-neighbours must be 0 or more, a whole number, not -1",
        ),
        (
            ["--learner", "hhc-mn", "--max-condition", -1],
            "--max-condition must be 0 or more, a whole number, not",
        ),
        (["--learner", "gsmn", "--symmetry", "no"], "--symmetry must be 'or' or 'and', not 'no'"),
        (
            ["--learner", "gsmn", "--test", "g-square", "--alpha", 2],
            "--alpha must lie between 0 and 1, not 2",
        ),
    ],
)
def test_wrong_options_are_named_as_they_were_typed(refused, survey, given, words):
    assert f"ibmap: error: {words}" in refused(survey, *given)


def test_options_of_a_verb_in_a_group(ibmap, tmp_path):
    given = "--variables", 4, "--tau", 9, "--rows", 5, "--out", tmp_path / "world"
    ran = ibmap("simulate", "random", *given)
    assert ran.refuses("--tau", "--variables - 1, 3, not 9.0")
    assert "n_variables" not in ran.err


@pytest.mark.parametrize(
    "message",
    [
        "there is no variable 'n_jobs'; did you mean 'n_job'?",
        "column 'bins=3' holds no numbers",
        """column "missing='a'" holds infinite values""",
        "the table's missing values, bins and so on",
        "'missing' must be 'there'",
    ],
)
def test_other_words_stay(message):
    assert in_options(message, LEARN) == message
