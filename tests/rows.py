"""Rows with all variables, as tests compare them."""

from typing import Any

from ibmap.scores.local_score import WholeRows

STRONG = (
    1.0  #: length of an effect beyond which exact rows fit the model without it (``_core/conditionals.hpp``)
)


def whole(score: Any, xs: Any, blankets: Any, **how: Any) -> WholeRows:
    """Return the rows of some x; those who are not listed have 0."""
    rows = score.rows(xs, blankets, **how)
    return WholeRows(rows.matrix(score.n), rows.value)
