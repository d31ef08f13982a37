# Everything runs in a virtual environment of its own; only Python 3.11 or newer, pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help demo test lint bench fuzz docs clean

help:  ## what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/core: pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"quire needs Python 3.11 or newer, this is {v[0]}.{v[1]}")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/dev: $(VENV)/core
	$(BIN)/pip install --quiet --editable '.[dev]'
	@# Only its files are wanted: tiktoken's own vocabularies, to compare counts with. Its dependencies are many.
	$(BIN)/pip install --quiet --no-deps --requirement tests/requirements-files-only.txt
	@touch $@

$(VENV)/bench: $(VENV)/dev
	$(BIN)/pip install --quiet --editable '.[bench]'
	@touch $@

demo: $(VENV)/core  ## install quire and show what it does with its own documentation
	@$(BIN)/python -m quire.cli.demo README.md docs

test: $(VENV)/dev lint  ## check style, types and layers, then run all tests
	$(BIN)/pytest

lint: $(VENV)/dev  ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/dev  ## write the generated parts of the documentation anew
	QUIRE_UPDATE_DOCS=1 $(BIN)/pytest -q tests/test_docs.py tests/unit/test_settings.py
	$(BIN)/python -m quire.wire

bench: $(VENV)/bench  ## measure cost against its parts; needs the documents that benchmarks/README.md names
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/dev  ## look for inputs that break the laws, for as long as QUIRE_FUZZ_EXAMPLES says
	HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest tests/test_laws.py tests/test_conformance.py -q

clean:  ## remove what was made
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
