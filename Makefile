# The only commands to remember. Each creates what it needs; nothing has to be installed beforehand.
PYTHON ?= python3
BIN := .venv/bin
CORE := .venv/.core
READY := .venv/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Two processes take whole files, in the order that tests/conftest.py gives them.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
PYTEST_ARGS ?=
# Programs that tests start shall not translate our Python anew, also where the shell asks Python to keep nothing.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup demo check test lint bench docs starter clean
.DEFAULT_GOAL := help

help:
	@echo "make setup   create .venv with everything developers need"
	@echo "make demo    link real text with the starter model"
	@echo "make check   run the quick tests, while you work"
	@echo "make test    run all tests, as CI does"
	@echo "make lint    ruff and mypy"
	@echo "make bench   speed and memory, as ratios against peers (results in benchmarks/results)"
	@echo "make starter DUMPS=...   train, prune and calibrate a starter model (in build/starter)"
	@echo "make docs    write the reference pages, build the site, check that everything is documented"

setup: $(READY)

$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -e .
	@touch $@

$(READY): $(CORE)
	$(PIP) -e '.[dev]'
	@touch $@

demo: $(CORE)
	$(BIN)/pboh info
	$(BIN)/pboh link "Georgia borders Armenia, Azerbaijan and Russia."
	$(BIN)/pboh link "Ray Charles sang about Georgia."

check: $(READY)
	$(PYTEST) -m "not slow and not browser and not spark" $(PYTEST_ARGS)

test: $(READY)
	$(PYTEST) $(PYTEST_ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks

docs: $(READY)
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_figures.py
	$(BIN)/python docs/make_site.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python -m pytest -q -m "not slow" tests/test_docs.py tests/docs
	@echo "open site/index.html; for its search: python3 -m http.server -d site"

# The starter model: a finished model of the dumps, made small, and fitted again, because less evidence means other
# probabilities. Pages that were set aside and the annotated texts that come with pboh fit it; nothing else is looked at.
MEGABYTES ?= 37
ANNOTATED := src/pboh/learning/annotated/development.jsonl src/pboh/learning/annotated/newsroom.jsonl
PAGES := build/whole/held-out.jsonl.gz\#0:200
starter: $(READY)
	@test -n "$(DUMPS)" || { echo "Say which dumps: make starter DUMPS=dump/*.bz2"; exit 2; }
	$(BIN)/pboh train $(DUMPS) --out build/whole
	$(BIN)/pboh prune --model build/whole --out build/starter --megabytes $(MEGABYTES)
	$(BIN)/pboh calibrate --model build/starter --validation '$(PAGES)'
	$(BIN)/pboh evaluate --model build/starter --end-to-end --allow-tuned $(ANNOTATED)

clean:
	find src -name '*.nb[ic]' -delete
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
