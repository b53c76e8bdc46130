# The only commands to remember. Each creates what it needs; nothing has to be installed beforehand.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PYTEST_ARGS ?=

.PHONY: setup demo test lint bench docs clean
.DEFAULT_GOAL := help

help:
	@echo "make setup   create .venv with everything developers need"
	@echo "make demo    train on a small dump that ships with the tests and link a text with it"
	@echo "make test    run the tests"
	@echo "make lint    ruff and mypy"
	@echo "make bench   speed and memory, as ratios against peers (results in benchmarks/results)"
	@echo "make docs    check that every command and public name is documented"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	@$(BIN)/python -m benchmarks.demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks

docs: $(READY)
	$(BIN)/python -m pytest tests/test_docs.py

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
