"""Missing values filled by a network: a transformer for scikit-learn."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ibmap._types import Bools, Floats
from ibmap.data import load
from ibmap.data.frames import open_source
from ibmap.errors import RequestError
from ibmap.learners.registry import find_learner
from ibmap.model import MarkovNetwork
from ibmap.model.coding import middles


class NetworkImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fill missing values with their most probable level or median, given the rest of their row.

    ``fit`` learns a network and its parameters from the table with its gaps: each test uses the rows that are
    complete in its own columns. ``transform`` fills gaps, and replaces levels that were not there at the fit.

    Parameters
    ----------
    learner : str
        Name of the learner of the graph, see ``ibmap.learners.LEARNERS``.
    graph : Graph or None
        A graph to use instead of learning one.
    method : {"auto", "maximum-likelihood", "pseudo-likelihood"}
        How parameters are estimated, see :meth:`MarkovNetwork.fit`.
    discretize, bins
        How continuous columns are cut, see :func:`ibmap.load`; their gaps get the middle of a bin.

    Attributes
    ----------
    network_ : MarkovNetwork
        The model.

    Examples
    --------
    >>> table = np.array([[0, 0], [1, 1]] * 20 + [[1, np.nan]])
    >>> NetworkImputer().fit_transform(table)[-1].tolist()
    [1.0, 1.0]
    """

    def __init__(
        self,
        learner: str = "evidence-map",
        graph: Any = None,
        method: str = "auto",
        discretize: str | None = None,
        bins: Any = None,
    ) -> None:
        self.learner, self.graph, self.method = learner, graph, method
        self.discretize, self.bins = discretize, bins

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a network and its parameters from a table with gaps."""
        kinds = "auto" if self.discretize is None and self.bins is None else None
        about: dict[str, Any] = {"discretize": self.discretize, "bins": self.bins, "continuous": kinds}
        data = load(X, missing="testwise", **about)
        source = find_learner(self.learner)(data) if self.graph is None else self.graph
        self.network_ = MarkovNetwork.fit(source, data, method=self.method)
        self.n_features_in_ = data.schema.n_variables
        if data.backend is not None:
            self.feature_names_in_ = np.array(data.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def transform(self, X: Any) -> Any:
        """Return the table without gaps: a frame of the same library, a dict of lists, or an array."""
        check_is_fitted(self, "network_")
        shape: Any = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise RequestError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        cells = self.network_.cells(X, "missing")
        gaps, filled = np.isnan(cells), self.network_.filled(cells)
        values = [self._values(v, filled[v, gap]) for v, gap in enumerate(gaps)]
        if isinstance(X, Mapping):
            return _filled_columns(X, self.network_.names, gaps, values)
        if open_source(X).backend is None:
            return _filled_array(np.asarray(X), gaps, values)
        return _filled_frame(X, self.network_.names, gaps, values)

    def _values(self, v: int, cells: Floats) -> list[Any]:
        """Return what gaps are filled with: labels, numbers, or the middles of bins."""
        edges = self.network_.bin_edges.get(self.network_.names[v])
        if edges is None:
            return self.network_.labels(v, cells)
        found = middles(self.network_.levels[v], edges)
        return [found[int(code)] for code in cells.tolist()]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _filled_array(X: Any, gaps: Bools, values: list[list[Any]]) -> Any:
    words = any(isinstance(value, str) for one in values for value in one) or X.dtype.kind in "OUS"
    out: Any = X.astype(object) if words else X.astype(np.result_type(X.dtype, np.float64))
    for v, gap in enumerate(gaps):
        out[gap, v] = values[v]
    return out


def _filled_columns(
    X: Mapping[Any, Any], names: tuple[str, ...], gaps: Bools, values: list[list[Any]]
) -> dict[Any, list[Any]]:
    place = {name: v for v, name in enumerate(names)}
    out = {name: np.asarray(column).tolist() for name, column in X.items()}
    for name, column in out.items():
        if (v := place.get(str(name))) is not None:
            for row, value in zip(np.flatnonzero(gaps[v]).tolist(), values[v], strict=True):
                column[row] = value
    return out


def _filled_frame(X: Any, names: tuple[str, ...], gaps: Bools, values: list[list[Any]]) -> Any:
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    columns = []
    for v, name in enumerate(names):
        old = frame[name].to_list()
        for row, value in zip(np.flatnonzero(gaps[v]).tolist(), values[v], strict=True):
            old[row] = value
        columns.append(nw.from_dict({name: old}, backend=frame.implementation)[name])
    return frame.with_columns(*columns).to_native()
