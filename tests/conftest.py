"""Hypothesis: the same examples on every run; ``--hypothesis-profile=explore`` draws new ones."""

from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, derandomize=False)
settings.load_profile("same")
