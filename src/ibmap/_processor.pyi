"""What this processor can do, and what each build of the native core needs (``_core/processor``)."""

FEATURES: list[str]  #: instruction sets that this processor has
BUILDS: dict[str, list[str]]  #: instruction sets that each build was compiled for, fastest first
