# Two commands: make demo, make test. Only python3 (3.11 or later) and make are needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

# relative, so that a path with spaces does no harm; it also pins what pip builds with
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-slow lint bench clean

demo: $(VENV)/.core
	@echo "Learning; the first run compiles for a while."
	@$(BIN)/ibmap demo --out demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(JOBS) -q

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -q -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "ibmap needs Python 3.11 or later; try: make PYTHON=python3.12 demo" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A stamp per set of extras; a change of what is required installs again.
INSTALL = $(BIN)/python -m pip install -qq --editable
NEEDS = pyproject.toml constraints.txt | $(BIN)/python

$(VENV)/.core: $(NEEDS)
	@echo "Installing ibmap into $(VENV) (once) ..."
	@$(INSTALL) ".[report]"
	@touch $@

$(VENV)/.dev: $(NEEDS)
	@echo "Installing ibmap and what its tests need into $(VENV) (once) ..."
	@$(INSTALL) ".[dev]"
	@touch $@ $(VENV)/.core

$(VENV)/.bench: $(NEEDS)
	@echo "Installing ibmap and what its benchmarks need into $(VENV) (once) ..."
	@$(INSTALL) ".[bench]"
	@touch $@ $(VENV)/.core
