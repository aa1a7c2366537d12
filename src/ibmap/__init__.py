"""Learn Markov network structure from categorical data."""
