r"""Coordinates in which a pseudo-likelihood is easy to climb.

With m_x the shares of the levels of x and U_x orthonormal contrasts that are uncorrelated under them, the
model is Σ_x u_xᵀ U_xᵀ e(x) + Σ_xy (e(x) - m_x)ᵀ U_x Θ_xy U_yᵀ (e(y) - m_y), e(x) the unit vector of the
level of x. Where all variables are independent, the curvature of the penalised pseudo-likelihood along
(u, Θ) is diagonal. Each coordinate is scaled by it, so that rare levels do not slow down a search by
gradients. Tables U_x Θ U_yᵀ are centred: rows and columns add up to 0.
"""

from dataclasses import dataclass

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.model.layout import Layout
from ibmap.scores.large_model import contrasts


@dataclass(frozen=True, eq=False)
class _Alike:
    """Edges whose ends have the same numbers of levels: U and m of both, and places of all parameters."""

    bases: tuple[Floats, Floats]
    means: tuple[Floats, Floats]
    coordinates: Ints
    table: Ints
    fields: tuple[Ints, Ints]


class Coordinates:
    """A linear map from coordinates to the parameters of a layout.

    Parameters
    ----------
    layout : Layout
        The graph, and where its parameters are.
    shares : list of ndarray
        The share of each level of each variable; all above zero.
    n_rows : int
        Rows of the table.
    of_field, of_table : float
        Precisions of the prior of fields, and of the entries of tables.
    """

    def __init__(
        self, layout: Layout, shares: list[Floats], n_rows: int, of_field: float, of_table: float
    ) -> None:
        self._layout, levels, pairs = layout, layout.levels, layout.graph.pairs
        variances, bases = map(list, zip(*(_basis(share) for share in shares), strict=True))
        free = levels - 1
        self._of_fields = np.concatenate([[0], np.cumsum(free)])
        starts = self._of_fields[-1] + np.concatenate([[0], np.cumsum(free[pairs].prod(axis=1))])
        self.size = int(starts[-1])
        of_fields = np.concatenate([np.empty(0), *variances])
        self._scale = np.empty(self.size)
        self._scale[: len(of_fields)] = 1 / np.sqrt(n_rows * of_fields + of_field)
        self._variables = []
        for r in np.unique(levels).tolist():
            mine = np.flatnonzero(levels == r)
            u = np.stack([bases[v] for v in mine.tolist()])
            spots = (
                layout.field_start[mine, None] + np.arange(r),
                self._of_fields[mine, None] + np.arange(r - 1),
            )
            self._variables.append((u, *spots))
        self._edges = []
        for a, b in np.unique(levels[pairs], axis=0).tolist():
            mine = np.flatnonzero((levels[pairs] == (a, b)).all(axis=1))
            ends = [pairs[mine, side].tolist() for side in (0, 1)]
            of_x, of_y = ([np.stack([part[v] for v in end]) for part in (bases, shares)] for end in ends)
            places = starts[mine, None] + np.arange((a - 1) * (b - 1))
            table = layout.table_start[mine, None] + np.arange(a * b)
            fields = [layout.field_start[pairs[mine, s], None] + np.arange(r) for s, r in ((0, a), (1, b))]
            both = np.stack(
                [np.outer(variances[x], variances[y]).ravel() for x, y in zip(*ends, strict=True)]
            )
            self._scale[places] = 1 / np.sqrt(2 * n_rows * both + of_table)
            self._edges.append(
                _Alike((of_x[0], of_y[0]), (of_x[1], of_y[1]), places, table, (fields[0], fields[1]))
            )

    def independent(self, shares: list[Floats]) -> Floats:
        """Return the coordinates at which variables are independent, with these shares of their levels."""
        logs = np.concatenate([np.empty(0), *(np.log(share) for share in shares)])
        u = np.zeros(self.size)
        for basis, spots, own in self._variables:
            u[own] = (logs[spots][:, None, :] @ basis)[:, 0, :]
        return u / self._scale

    def parameters(self, u: Floats) -> Floats:
        """Return the parameters that coordinates stand for."""
        theta, u = np.zeros(self._layout.size), u * self._scale
        for basis, spots, own in self._variables:
            theta[spots] = (basis @ u[own][:, :, None])[:, :, 0]
        for one in self._edges:
            (u_x, u_y), (m_x, m_y) = one.bases, one.means
            inner = u[one.coordinates].reshape(len(u_x), u_x.shape[2], u_y.shape[2])
            tables = u_x @ inner @ u_y.swapaxes(1, 2)
            theta[one.table] = tables.reshape(one.table.shape)
            np.subtract.at(theta, one.fields[0], (tables @ m_y[:, :, None])[:, :, 0])
            np.subtract.at(theta, one.fields[1], (m_x[:, None, :] @ tables)[:, 0, :])
        return theta

    def pulled_back(self, gradient: Floats) -> Floats:
        """Return the gradient along the coordinates, given the one along the parameters."""
        found = np.empty(self.size)
        for basis, spots, own in self._variables:
            found[own] = (gradient[spots][:, None, :] @ basis)[:, 0, :]
        for one in self._edges:
            (u_x, u_y), (m_x, m_y) = one.bases, one.means
            tables = gradient[one.table].reshape(len(u_x), u_x.shape[1], u_y.shape[1])
            of_x, of_y = (gradient[field] for field in one.fields)
            tables = tables - of_x[:, :, None] * m_y[:, None, :] - m_x[:, :, None] * of_y[:, None, :]
            found[one.coordinates] = (u_x.swapaxes(1, 2) @ tables @ u_y).reshape(one.coordinates.shape)
        return found * self._scale


def _basis(share: Floats) -> tuple[Floats, Floats]:
    """Return orthonormal contrasts (levels, levels - 1), uncorrelated under the shares, and their variances.

    Examples
    --------
    >>> variances, u = _basis(np.array([0.5, 0.3, 0.2]))
    >>> covariance = np.diag([0.5, 0.3, 0.2]) - np.outer([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])
    >>> np.allclose(u.T @ covariance @ u, np.diag(variances)), np.allclose(u.sum(axis=0), 0)
    (True, True)
    """
    c = contrasts(len(share))
    variances, vectors = np.linalg.eigh(c.T @ (np.diag(share) - np.outer(share, share)) @ c)
    return np.maximum(variances, 0.0), np.asarray(c @ vectors)
