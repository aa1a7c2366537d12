"""The words of the page that depend on what was learned: its legend, and what its terms mean."""

from ibmap.report.content import is_of_numbers
from ibmap.results.bootstrap import Support
from ibmap.results.learned import Learned
from ibmap.results.result_file import Result

POSTERIOR = (
    "How probable it is that these two are directly associated. It is lower where another variable would "
    "explain the data as well."
)
MEAN_OF_ENDS = (
    "What the tests at the two ends say about the association, as one number (their geometric mean). It "
    "is not a probability: 0.707 means that one end is sure and the other cannot tell."
)
ASSOCIATION = (
    "One variable says something about the other even when all other variables are known. All other "
    "associations go through variables in between."
)
UNDECIDED = (
    "The posterior is between 0.1 and 0.9: the data do not say whether there is an association. Pairs with "
    "an edge can be undecided, and so can pairs without one, which does not make these independent."
)
STRENGTH = "How strong an association is where all other variables are equal, from 0 to 1. "
OF_NUMBERS = (
    "The partial correlation r, without its sign: the correlation of what is left of the two variables "
    "when all others have been taken into account; ± is its standard error."
)
OF_ANY = "It is on the scale of a correlation (of variables without an order, Cramér's V)."
EFFECT = (
    "Of two variables with two levels: the factor by which the odds of the second level of one are higher "
    "with the second level of the other, and a 95 % interval. Of ordered levels and numbers: a correlation "
    "r, a difference of means in standard deviations (SD), or the factor of the odds of the second level per "
    "SD. Of others: Cramér's V, from 0 to 1. ± is a standard error."
)
GROUP = (
    "Variables that have more and stronger associations with each other than with the rest, unless groups"
    " were given."
)
SCORE = (
    "What the search makes as large as it can: how well a network explains this table. It compares "
    "networks of the same table only."
)


def glossary(result: Result, support: Support | None = None) -> list[tuple[str, str]]:
    """Return the terms that the page uses, and what they mean."""
    learned = result.learned
    drawn = "a part of the rows, none of them twice"
    if support and not support.subsample:
        drawn = "as many rows, drawn with replacement"
    frequency = f"The share of resampled tables in which the association was found; each has {drawn}."
    numbers = is_of_numbers(result)
    return [
        ("direct association", ASSOCIATION),
        *_of_posteriors(learned),
        *([("strength", STRENGTH + (OF_NUMBERS if numbers else OF_ANY))] if learned.effects else []),
        *([("effect", EFFECT)] if learned.effects and not numbers else []),
        *([("support", frequency)] if support else []),
        ("group", GROUP),
        ("score", SCORE),
    ]


def _of_posteriors(learned: Learned) -> list[tuple[str, str]]:
    if learned.score is None:
        return []
    meaning = MEAN_OF_ENDS if learned.summarises_ends else POSTERIOR
    return [
        ("posterior", f"{meaning} 1 - 2e-9 means 0.999999998."),
        ("undecided", UNDECIDED),
    ]


def legend(result: Result) -> list[tuple[str, str]]:
    """Return the lines of the drawing, by the class that they have on the page, and what they mean."""
    learned = result.learned
    signs = [("positive", "positive: high goes with high"), ("negative", "negative: high goes with low")]
    unsigned = [] if is_of_numbers(result) else [("unsigned", "no single direction")]
    unsure = [("unsigned uncertain", "undecided"), ("undecided", "undecided, no edge")]
    return [
        *([*signs, *unsigned] if learned.effects else [("unsigned", "direct association")]),
        *(unsure if learned.score is not None else []),
    ]
