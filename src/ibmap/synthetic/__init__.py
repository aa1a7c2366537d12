"""Worlds with a known truth: random networks and the sampler that draws rows from them."""

from ibmap.synthetic.gibbs import sample
from ibmap.synthetic.pairwise import PairwiseModel
from ibmap.synthetic.random_networks import random_network, simulate_random
from ibmap.synthetic.world import World

__all__ = ["PairwiseModel", "World", "random_network", "sample", "simulate_random"]
