"""Rows → tables of counts: the only package that sees rows."""

from ibmap.engines.adding import add_tables
from ibmap.engines.engine import Engine, EngineBase, Source, as_engine, ask
from ibmap.engines.memory import MemoryEngine
from ibmap.engines.model import Model
from ibmap.engines.questions import Questions
from ibmap.engines.registry import ENGINES
from ibmap.engines.rows import Lists, Rows
from ibmap.engines.shards import ShardEngine, ThreadEngine
from ibmap.engines.tables import Slices, Tables

__all__ = [
    "ENGINES",
    "Engine",
    "EngineBase",
    "Lists",
    "MemoryEngine",
    "Model",
    "Questions",
    "Rows",
    "ShardEngine",
    "Slices",
    "Source",
    "Tables",
    "ThreadEngine",
    "add_tables",
    "as_engine",
    "ask",
]
