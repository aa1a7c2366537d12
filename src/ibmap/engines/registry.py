"""Engines by name."""

from ibmap.engines.engine import MakeEngine
from ibmap.engines.gpu import GpuEngine
from ibmap.engines.memory import MemoryEngine

ENGINES: dict[str, MakeEngine] = {"memory": MemoryEngine, "gpu": GpuEngine}
