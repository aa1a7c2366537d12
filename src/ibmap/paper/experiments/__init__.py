"""The figures and tables of the paper, one description each; ``registry`` has their names."""
