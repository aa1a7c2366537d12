"""From a graph to a model: parameters, questions, samples, missing values.

>>> from ibmap import Graph, MarkovNetwork, load
>>> data = load({"rain": ["no", "yes"] * 20, "wet": ["no", "yes"] * 20})
>>> network = MarkovNetwork.fit(Graph(data.names, [("rain", "wet")]), data)
>>> network.query("wet", given={"rain": "yes"}).method
'exact'
"""

from ibmap.model.answers import Answer
from ibmap.model.fitting import METHODS
from ibmap.model.markov_network import MarkovNetwork

__all__ = ["METHODS", "Answer", "MarkovNetwork"]
