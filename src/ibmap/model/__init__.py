"""From a graph to a model: parameters, questions, samples, missing values.

>>> from ibmap import Graph, MarkovNetwork, load
>>> data = load({"rain": ["no", "yes"] * 20, "wet": ["no", "yes"] * 20})
>>> network = MarkovNetwork.fit(Graph(data.names, [("rain", "wet")]), data)
>>> network.query("wet", given={"rain": "yes"}).method
'exact'
"""

from ibmap.model.convert import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum
from ibmap.model.fitting import METHODS
from ibmap.model.markov_network import MarkovNetwork
from ibmap.model.mixed_network import MixedNetwork
from ibmap.model.model_file import model_of, model_text, read_model, write_model
from ibmap.model.number_answer import NumberAnswer
from ibmap.model.query import Answer

__all__ = [
    "METHODS",
    "Answer",
    "MarkovNetwork",
    "MixedNetwork",
    "NumberAnswer",
    "from_pgmpy",
    "from_pyagrum",
    "model_of",
    "model_text",
    "read_model",
    "to_pgmpy",
    "to_pyagrum",
    "write_model",
]
