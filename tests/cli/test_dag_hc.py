"""DAG-HC on the command line: its options, and every verb that takes a result."""

from typing import Any

from ibmap import read_result


def test_the_command_line(ibmap: Any, survey: Any, tmp_path: Any) -> None:
    out = tmp_path / "found"
    options = ["--learner", "dag-hc", "--score", "bdeu", "--tabu", "3", "--max-parents", "2"]
    ran = ibmap("learn", survey, *options, "--equivalent-sample-size", "2", "--out", out)
    assert (ran.code, ran.err) == (0, "")
    assert "dag-hc(score=bdeu, equivalent_sample_size=2.0, max_parents=2, tabu=3)" in ran.out
    assert read_result(out).learned.arcs
    for verb in (
        ["explain", out, "smoke", "cough"],
        ["plot", out, tmp_path / "scores.png", "--scores"],
        ["convert", out, tmp_path / "net.dot"],
        ["report", out, "--force"],
        ["bootstrap", survey, *options, "--replicates", "3"],
    ):
        ran = ibmap(*verb)
        assert (ran.code, ran.err) == (0, ""), verb
    ran = ibmap("learn", survey, "--learner", "dag-hc", "--test", "chi-square")
    assert "dag-hc has no option --test" in ran.err
    ran = ibmap("learn", survey, "--learner", "gsmn", "--tabu", "3")
    assert "gsmn has no option --tabu; dag-hc has" in ran.err
