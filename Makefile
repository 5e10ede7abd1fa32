# Two commands need nothing but Python >= 3.11: `make demo` and `make test`. Both set up .venv themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint types docs bench clean

$(STAMP): pyproject.toml CMakeLists.txt $(wildcard src/likewise/_kernels/*.c src/likewise/_kernels/*.h)
	$(PYTHON) -c "import sys; sys.exit('likewise needs Python 3.11 or newer, this is ' + sys.version) if sys.version_info < (3, 11) else None"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(STAMP)  ## run the main job on generated data and leave a report to open
	$(BIN)/likewise demo --out demo-report

test: $(STAMP)  ## every test, docstring and documentation example
	$(BIN)/python -m pytest --numprocesses auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

clean:
	rm -rf $(VENV) build demo-report .mypy_cache .ruff_cache .pytest_cache .hypothesis docs/_build docs/_generated
