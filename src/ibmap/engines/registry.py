"""Engines by name."""

from ibmap.engines.engine import MakeEngine
from ibmap.engines.gpu import GpuEngine
from ibmap.engines.memory import MemoryEngine
from ibmap.engines.partitioned import ThreadEngine

ENGINES: dict[str, MakeEngine] = {"memory": MemoryEngine, "threads": ThreadEngine, "gpu": GpuEngine}
