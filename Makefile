# Two commands: `make run` shows Stanchion at work on this machine, `make test` runs every tier it can.

PYTHON ?= python3
BIN := .venv/bin
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python --constraints constraints.txt

.DEFAULT_GOAL := help
.PHONY: help run test lint unit cluster-up cluster-down constraints clean

help:           ## show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/run.stamp        ## the two-minute tour: stanchion demo
	@$(BIN)/stanchion demo

test: lint      ## lint, types, import rules, then every test tier this machine can serve
	$(BIN)/pytest

lint: .venv/test.stamp      ## ruff, mypy and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

unit: .venv/test.stamp      ## only the tests that need nothing
	$(BIN)/pytest -m 'not (redis or api or node or ruby or helm or browser or keda)'

cluster-up: .venv/test.stamp     ## start a Kubernetes cluster of your own; NODE=1 adds a node that runs pods (root)
	PYTHONPATH=tests/cluster $(BIN)/python -m testcluster up $(if $(NODE),--node)

cluster-down: .venv/test.stamp   ## stop it and leave nothing behind
	PYTHONPATH=tests/cluster $(BIN)/python -m testcluster down

constraints: .venv/test.stamp    ## pin the newest allowed versions anew
	$(BIN)/uv pip compile --quiet --universal --all-extras --upgrade --no-header --no-annotate \
	  --python-version 3.11 --output-file constraints.txt pyproject.toml

clean:          ## forget the set-up and build results
	rm -rf .venv build dist

.venv/bin/uv: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Stanchion needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@touch $@

.venv/run.stamp: pyproject.toml constraints.txt | .venv/bin/uv
	$(UV) --editable '.[local]'
	@touch $@

.venv/test.stamp: pyproject.toml constraints.txt | .venv/bin/uv
	$(UV) --editable '.[local,operator,dev]'
	@touch $@ .venv/run.stamp
