"""What reticulate makes of an R data.frame: a pandas frame, with factors as categories, some ordered."""

import pandas as pd
import polars as pl

from ibmap import EvidenceMAP
from ibmap.synthetic import simulate_people
from ibmap.synthetic.people import GRADES


def test_a_data_frame_of_r_needs_no_options() -> None:
    people = simulate_people(300, random_state=0).frame
    frame = pd.DataFrame(people.to_dict(as_series=False))
    for name in people.select(pl.col(pl.String)).columns:
        frame[name] = pd.Categorical(frame[name], GRADES.get(name), ordered=name in GRADES)
    frame.loc[3, "bmi"] = float("nan")
    net = EvidenceMAP().fit(frame)
    assert net.graph_.has_edge("height", "grip")
    assert isinstance(net.edges_, pd.DataFrame)
    assert list(net.edges_.columns[:3]) == ["x", "y", "posterior"]
    assert net.explain("education", "exercise").words()
