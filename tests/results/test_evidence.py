"""Evidence for and against a direct association: posterior odds over prior odds."""

import numpy as np
import pytest

from ibmap import IBMAP, BayesianTest, EvidenceMAP
from ibmap.data import load
from ibmap.learners import evidence_map
from ibmap.results.result_file import result_of, result_of_learned


@pytest.mark.parametrize("flip", [0.1, 0.45, 0.5])
def test_a_bayes_factor_does_not_depend_on_the_prior(flip):
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=200)
    table = {"a": a, "b": a ^ (rng.random(200) < flip)}
    for learner in (
        lambda prior: EvidenceMAP(prior=prior),
        lambda prior: IBMAP(BayesianTest(prior=prior)),
        lambda prior: EvidenceMAP(expected_neighbours=1 - prior),
    ):
        nets = [learner(prior).fit(table) for prior in (0.6, 0.7, 0.9)]
        listed = [net.edges_["log_bayes_factor"][0] for net in nets]
        assert listed == pytest.approx([listed[0]] * 3, abs=0.05)  # without the edge it is one step of Newton
        assert [net.explain("b", "a").log_bayes_factor for net in nets] == pytest.approx(listed)
        side = "for" if listed[0] > 0 else "against"
        assert f"vidence {side} a direct" in nets[0].explain("a", "b").words() or abs(listed[0]) < 1.1


def test_a_result_keeps_what_was_found():
    rng = np.random.default_rng(0)
    data = load({f"x{i}": rng.integers(2, size=300) for i in range(70)})  # more pairs than a file lists
    learned = evidence_map(data)
    assert "strong evidence against" in learned.finding
    content = result_of_learned(learned, data).content
    assert result_of(content).learned.finding == learned.finding
    older = {name: value for name, value in content.items() if name != "n_against"}
    assert "evidence" not in result_of(older).learned.finding
