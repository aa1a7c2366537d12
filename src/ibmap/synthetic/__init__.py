"""Worlds with a known truth: random networks, Ising lattices, and the sampler that draws rows from them."""

from ibmap.synthetic.factors import FactorModel
from ibmap.synthetic.gibbs import sample
from ibmap.synthetic.ising import ising_lattice, lattice_shape, simulate_ising
from ibmap.synthetic.pairwise import PairwiseModel
from ibmap.synthetic.people import People, simulate_people
from ibmap.synthetic.random_networks import random_network, simulate_random
from ibmap.synthetic.world import World

__all__ = [
    "FactorModel",
    "PairwiseModel",
    "People",
    "World",
    "ising_lattice",
    "lattice_shape",
    "random_network",
    "sample",
    "simulate_ising",
    "simulate_people",
    "simulate_random",
]
