"""From rows to tables of counts: the only package that sees rows."""

from ibmap.engines.engine import Engine, Source, as_engine, ask
from ibmap.engines.memory import MemoryEngine
from ibmap.engines.merge import add_tables
from ibmap.engines.model import Model
from ibmap.engines.partitioned import PartitionedEngine, ThreadEngine
from ibmap.engines.questions import Questions
from ibmap.engines.registry import ENGINES
from ibmap.engines.rows import Lists, Rows
from ibmap.engines.tables import Slices, Tables
from ibmap.engines.triples import Triples

__all__ = [
    "ENGINES",
    "Engine",
    "Lists",
    "MemoryEngine",
    "Model",
    "PartitionedEngine",
    "Questions",
    "Rows",
    "Slices",
    "Source",
    "Tables",
    "ThreadEngine",
    "Triples",
    "add_tables",
    "as_engine",
    "ask",
]
