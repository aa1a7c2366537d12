"""Slow, readable twins of every kernel: read them beside the paper. Nothing here imports ``ibmap``."""
