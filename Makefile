# Two commands: make demo, make test. python3 (3.11 or later) with its headers, make and a C++ compiler are needed;
# where there is no compiler, zig comes from PyPI.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

# relative, so that a path with spaces does no harm; it also pins what pip builds with
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

ifneq ($(origin CXX),default)  # make CXX=clang++, or the environment
export CXX
endif

.PHONY: core debug sanitize wheel demo test test-slow doctest test-oldest mutants lint docs reference bench quality clean

demo:
	@echo "1 of 3: installing (the first time about a minute)"
	@$(MAKE) --no-print-directory $(VENV)/.core
	@echo "2 of 3: compiling (the first time about half a minute)"
	@$(MAKE) --no-print-directory core
	@echo "3 of 3: learning (a few seconds)"
	@$(BIN)/ibmap demo --out demo

test: $(VENV)/.dev core
	$(BIN)/python -m pytest -n $(JOBS) -q

test-slow: $(VENV)/.dev core
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -q -m slow

# The examples in docstrings.
doctest: $(VENV)/.dev core
	$(BIN)/python -m pytest -n $(JOBS) -q --doctest-modules src

# The oldest supported versions (constraints-oldest.txt). What meets a library: tables, learners, formats,
# pictures, the command line. Left out: what is only built upon that (optimisation, experiments, worlds, the tutorial),
# the browser, tests that start many processes, and what those versions cannot do:
#   scikit-learn 1.6: its own check_positive_only_tag subtracts a float from integers, in place
#   typer 0.12: help loads rich, and groups neither verbs nor options; click 8.1: a group without a verb is no error
#   polars 1.10: integers beyond 64 bits in text files are an error, and an empty line beside integers of 2^53
#     makes other columns text; categories that an Enum declares are lost on the way through Arrow
#   pyarrow 16: makes no runs of equal values
OLDEST := .venv-oldest
OLDEST_WITHOUT := eda paper synthetic report/test_browser.py report/test_picking.py report/test_odd_results.py \
  cli/test_interrupt.py cli/test_optimize.py cli/test_reproduce.py cli/test_bootstrap.py learners/test_laws.py \
  learners/test_rivals.py learners/test_checkpoint.py test_tutorial.py test_examples.py test_reference.py
OLDEST_CANNOT := positive_only_tag or verbs_by_task or text_in_blocks_is or help_imports_nothing_heavy or common_options_come_first or usage_errors_leave_with_2 or long_integers \
  or 99999999999999999999 or 12345678901234567890 or by_batches_of_arrow or runs_of_equal_values

test-oldest: $(OLDEST)/.test core
	$(OLDEST)/bin/python -m pytest -n $(JOBS) -q \
	  -W "ignore:Downcasting object dtype:FutureWarning" -k "not ($(OLDEST_CANNOT))" \
	  tests $(OLDEST_WITHOUT:%=--ignore=tests/%)

# The native core, compiled for this processor into src/ibmap; what has changed since is compiled again.
core: $(VENV)/.core
	@$(BIN)/python tools/build_core.py

debug: $(VENV)/.core
	@$(BIN)/python tools/build_core.py debug
	@echo "IBMAP_CORE=build/debug/core.so gdb --args $(BIN)/python -m ibmap learn TABLE.csv"

# The tests of the core, with a build that stops at the first bad address or undefined behaviour.
SANITIZED := tests/core

sanitize: $(VENV)/.dev core
	@$(BIN)/python tools/build_core.py sanitized
	LD_PRELOAD="$$(cat build/sanitized/preload)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  PYTHONMALLOC=malloc IBMAP_CORE=build/sanitized/core.so $(BIN)/python -m pytest -q -p no:cacheprovider $(SANITIZED)

# What to publish: the source distribution, and a wheel that has the core for several generations of processors, in dist.
wheel: $(VENV)/.dev
	@rm -rf dist && echo "Building the wheel of ibmap (three times the core: a minute or two) ..."
	@$(BIN)/python tools/build_core.py wheel
	@$(BIN)/python tools/try_wheel.py dist/ibmap-*.whl

# Do the tests notice changes of the library? A hundred at random, one after the other: half an hour.
SEED := 0
mutants: $(VENV)/.dev core
	$(BIN)/python tools/mutate.py --count 100 --seed $(SEED)

lint: $(VENV)/.dev core
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# The API reference and the pages of the repository; a reference that leads nowhere is an error.
docs: $(VENV)/.docs core
	$(BIN)/python docs/site/pages.py build/docs/source
	$(BIN)/python -m sphinx -q -n -W --keep-going -c docs/site build/docs/source build/docs/html
	@echo "wrote build/docs/html/index.html"

# docs/reference.md, from the program.
reference: $(VENV)/.dev core
	$(BIN)/python docs/site/reference.py

bench: $(VENV)/.bench core
	$(BIN)/python benchmarks/run.py

# Hours; what is done is kept in benchmarks/results/quality.csv, and a second call goes on.
quality: $(VENV)/.bench core
	$(BIN)/python benchmarks/quality.py --jobs $(JOBS)

clean:
	rm -rf $(VENV) $(OLDEST) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "ibmap needs Python 3.11 or later; try: make PYTHON=python3.12 demo" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(OLDEST)/.test: pyproject.toml constraints-oldest.txt
	@echo "Installing ibmap and the oldest versions that it supports into $(OLDEST) (once) ..."
	@$(PYTHON) -m venv $(OLDEST)
	@PIP_CONSTRAINT=constraints-oldest.txt $(DOTS) $(OLDEST)/bin/$(INSTALL) ".[test]"
	@touch $@

# A stamp per set of extras; a change of what is required installs again.
# The package is installed in place, without its core: `core` builds that into src/ibmap.
DOTS = $(PYTHON) tools/with_dots.py
INSTALL = python -m pip install -qq -C editable.mode=inplace -C wheel.cmake=false -C wheel.py-api=py3 --editable
NEEDS = pyproject.toml constraints.txt | $(BIN)/python

$(VENV)/.core: $(NEEDS)
	@echo "Installing ibmap into $(VENV) (once) ..."
	@$(DOTS) $(BIN)/$(INSTALL) ".[core,report]"
	@touch $@

$(VENV)/.dev: $(NEEDS)
	@echo "Installing ibmap and what its tests need into $(VENV) (once) ..."
	@$(DOTS) $(BIN)/$(INSTALL) ".[dev]"
	@touch $@ $(VENV)/.core

$(VENV)/.docs: $(NEEDS)
	@echo "Installing ibmap and what its documentation needs into $(VENV) (once) ..."
	@$(DOTS) $(BIN)/$(INSTALL) ".[docs]"
	@touch $@

$(VENV)/.bench: $(NEEDS)
	@echo "Installing ibmap and what its benchmarks need into $(VENV) (once) ..."
	@$(DOTS) $(BIN)/$(INSTALL) ".[bench]"
	@touch $@ $(VENV)/.core
