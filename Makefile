# Everything a developer types. The environment in .venv is made when it is needed and kept up to date.
PYTHON ?= $(firstword $(foreach name,python3.13 python3.12 python3.11 python3 python,\
	$(shell $(name) -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
BIN := .venv/bin
RUN_READY := .venv/.ready-to-run
TEST_READY := .venv/.ready-to-test

CHROMIUM := $(firstword $(foreach name,chromium chromium-browser google-chrome,$(shell command -v $(name) 2>/dev/null)))
PGBOUNCER := $(firstword $(shell PATH=$$PATH:/usr/sbin command -v pgbouncer 2>/dev/null))
PACKAGES := $(if $(CHROMIUM),,chromium fonts-dejavu-core) $(if $(PGBOUNCER),,pgbouncer)

.PHONY: run test packages lint types check bench web clean help

help: ## Say what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(RUN_READY) ## Start the daemon on this machine
	@exec $(BIN)/mnemic serve $(ARGS)

test: $(TEST_READY) packages ## Run the tests; ARGS="-k words" passes options on
	$(BIN)/pytest -n 2 $(ARGS)

packages: # The dashboard is tested in a real Chromium, PostgreSQL behind a real pgbouncer.
ifneq ($(strip $(PACKAGES)),)
	@tools/install_packages.sh $(PACKAGES)
endif

lint: $(TEST_READY) ## Look for faults of style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TEST_READY) ## Check the types
	$(BIN)/mypy

check: lint types test ## All of the above

bench: $(TEST_READY) ## Measure the budgets
	$(BIN)/python -m bench $(ARGS)

web: $(TEST_READY) ## Build the dashboard from web/ (needs Node)
	$(BIN)/python tools/build_web.py

clean: ## Remove everything that was made here
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with its venv module is needed; none was found." >&2; exit 1; }
	$(PYTHON) -m venv .venv

$(RUN_READY): pyproject.toml | $(BIN)/python
	@echo 'Installing Mnemic and what it needs into .venv; this happens once.'
	$(BIN)/python -m pip install --disable-pip-version-check --editable .
	@touch $@

$(TEST_READY): pyproject.toml | $(BIN)/python
	@echo 'Installing Mnemic and what its tests need into .venv; this happens once.'
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[test]'
	@touch $@ $(RUN_READY)
