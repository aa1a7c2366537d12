import numpy as np
import pytest

from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.synthetic import PairwiseModel

EDGE = Graph("ab", [("a", "b")])


def test_exponential_form_is_the_product_of_the_factors():
    rng = np.random.default_rng(0)
    graph = Graph("abcd", [("a", "c"), ("b", "c"), ("c", "d"), ("a", "d")])
    log_factors = rng.normal(size=(4, 2, 2))
    model = PairwiseModel.from_log_factors(graph, log_factors)
    states = np.indices((2,) * 4).reshape(4, -1).T
    expected = sum(log_factors[e, states[:, i], states[:, j]] for e, (i, j) in enumerate(graph.pairs))
    np.testing.assert_allclose(model.log_weight(states), expected - log_factors[:, 0, 0].sum(), atol=1e-12)


def test_arrays_are_copied_and_read_only():
    fields = np.zeros(2)
    model = PairwiseModel(EDGE, fields, [1])
    fields[0] = 7
    assert model.fields.tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        model.couplings[0] = 2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: PairwiseModel(EDGE, [0.0], [1.0]), "fields must be 2 finite numbers"),
        (lambda: PairwiseModel(EDGE, [0.0, 0.0], []), "couplings must be 1 finite numbers"),
        (lambda: PairwiseModel(EDGE, [0.0, np.nan], [1.0]), "fields must be 2 finite"),
        (lambda: PairwiseModel.from_log_factors(EDGE, np.zeros((2, 2))), r"shape \(1, 2, 2\)"),
        (lambda: PairwiseModel.from_log_factors(EDGE, np.full((1, 2, 2), -np.inf)), "finite"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_models_get_one_line(build, message):
    with pytest.raises(RequestError, match=message):
        build()
