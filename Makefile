# Two commands need nothing but Python >= 3.11: `make demo` and `make test`. Both set up .venv themselves.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
BUILT_FROM := pyproject.toml CMakeLists.txt $(wildcard src/likewise/_kernels/c/*.c src/likewise/_kernels/c/*.h)
USABLE := $(VENV)/.usable
TESTABLE := $(VENV)/.testable

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint types docs bench asan clean

help:  ## what there is to make
	@sed -n 's/^\([a-z-]*\):.*##  */\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name what; do printf '%-8s  %s\n' "$$name" "$$what"; done

$(USABLE): $(BUILT_FROM) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(TESTABLE): $(BUILT_FROM) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(USABLE) $@

$(BIN)/python:
	$(if $(PYTHON),,$(error likewise needs Python 3.11 or newer; name one with PYTHON=/path/to/python))
	$(PYTHON) -m venv $(VENV)

demo: $(USABLE)  ## run the main job on generated data and leave a report to open
	$(BIN)/likewise demo --out demo-report

# Each process of the tests has one core, so that threads of its BLAS would only wait for one another.
test test-all: export OPENBLAS_NUM_THREADS ?= 1

test: $(TESTABLE)  ## run the tests and every example in the documentation; the slow ones are left out
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not slow"

test-all: $(TESTABLE)  ## run every test, as CI does
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

lint: $(TESTABLE)  ## check style and form
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TESTABLE)  ## check types
	$(BIN)/mypy

docs: $(TESTABLE)  ## build the documentation into docs/_build/html; warnings are errors, and so are broken links
	@rm -rf docs/_generated  # pages of names that are gone would fail the build
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py

bench: $(TESTABLE)  ## run the benchmarks one after another; those on real data need LIKEWISE_DATA
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

asan: $(TESTABLE)  ## feed malformed matrices to the kernels under AddressSanitizer
	sh tests/_kernels/fuzz_asan.sh 20 $(BIN)/python

clean:  ## remove what was made
	rm -rf $(VENV) build demo-report .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks docs/_build docs/_generated
