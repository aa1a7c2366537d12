"""Stands for the native core until it is imported; ``_core.pyi`` documents what it has."""

from ibmap._loader import load

load(__name__)
