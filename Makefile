# Everything is done in a virtual environment, $(VENV), that is made on first use. Needed: python3 (3.11 or newer), gcc, make.

PYTHON ?= python3
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= 2
N ?= 5000
MUTANTS ?= 900
SEED ?= 1
BENCH ?= --size LARGE

export CC
# Tests start scopt hundreds of times, which would compile all of its modules each time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test lint typecheck bench fuzz mutate seldom clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## optimize a gemm; compile, check and time it against the original; show the emitted loops
	@PATH="$(CURDIR)/$(BIN):$$PATH" examples/demo.sh

test: $(READY) ## run all tests (WORKERS=2: how many at a time; ARGS='-k name': more options for pytest)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -q $(ARGS)

lint: $(READY) ## ruff, the lengths and names of tests/house.py, and the layers of packages (import-linter)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/house.py
	@$(BIN)/python tests/typing_tree.py build/typing
	cd build/typing && $(CURDIR)/$(BIN)/lint-imports --config $(CURDIR)/pyproject.toml --no-logo --no-cache

typecheck: $(READY) ## mypy --strict over all five folders
	@$(BIN)/python tests/typing_tree.py build/typing
	cd build/typing && $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache -p scopt

bench: $(READY) ## time PolyBench against gcc -O3 (BENCH='gemm --size MEDIUM': the options of scopt-bench)
	$(BIN)/scopt-bench $(BENCH)

fuzz: $(READY) ## compare random programs with and without scopt (N=5000: how many; SEED=1: which)
	$(BIN)/python -m tests.fuzz.run --count $(N) --seed $(SEED) --workers $(WORKERS)

mutate: $(READY) ## plant faults in every step, and see that the proof refuses them (MUTANTS=900: how many; SEED=1: which)
	$(BIN)/python -m tests.mutate.run --count $(MUTANTS) --seed $(SEED) --workers $(WORKERS)

seldom: $(READY) ## find out anew which cases of tests everyday's runs leave out (an hour; ARGS=tests/check: of some tests)
	$(BIN)/python -m tests.seldom.run $(ARGS)

clean: ## remove everything that was made here
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(READY): setup.py pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "make: $(PYTHON) is not Python 3.11 or newer; name one that is: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { echo "make: $(PYTHON) cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@command -v $(CC) >/dev/null || { echo "make: there is no C compiler '$(CC)'; on Debian and Ubuntu: apt install gcc libc6-dev" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench,cluster,gym,test,dev]'
	@touch $@
