"""Rows with all variables, as tests compare them."""

from typing import Any, NamedTuple

from ibmap._types import Floats

STRONG = (
    1.0  #: length of an effect beyond which exact rows fit the model without it (``_core/conditionals.hpp``)
)


class WholeRows(NamedTuple):
    evidence: Floats  #: (rows, variables): t_xy, and 0 for x itself
    values: Floats  #: (rows,): s_x(B)


def whole(score: Any, xs: Any, blankets: Any, **how: Any) -> WholeRows:
    """Return the rows of some x; those who are not listed have 0."""
    rows = score.rows(xs, blankets, **how)
    return WholeRows(rows.matrix(score.n), rows.value)
