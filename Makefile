# Treaty. `make` alone lists the targets.
PYTHON ?= python3
UV_VERSION := 0.13.7
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
export UV_PYTHON_DOWNLOADS := never
BIN := .venv/bin
INSTALL_JAVA := [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && echo "installing Java for Spark" >&2 \
	&& export DEBIAN_FRONTEND=noninteractive && apt-get update -qq > /dev/null \
	&& { apt-get install -y -qq openjdk-17-jre-headless || apt-get install -y -qq openjdk-21-jre-headless; } > /dev/null

INSTALL_CHROMIUM := [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && echo "installing Chromium for the tests of the pages" >&2 \
	&& export DEBIAN_FRONTEND=noninteractive && apt-get update -qq > /dev/null && apt-get install -y -qq chromium > /dev/null
FIND_CHROMIUM := [ -n "$$TREATY_CHROMIUM" ] || command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null

.DEFAULT_GOAL := help
.PHONY: help setup browser demo demo-kafka demo-gym tour test test-fast faults soak check format docs docs-site bench bench-enforce bench-pipeline clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.uv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Treaty needs Python 3.11 or later; set PYTHON=python3.12, for example"; exit 1; }
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target .uv "uv==$(UV_VERSION)"

.venv/.ready: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV))
	$(UV) sync --quiet --frozen --extra server --extra connect --extra kafka --extra tracing --python $(PYTHON)
	@$(BIN)/python -m compileall -q .venv/lib src > /dev/null || true
	@touch $@

# Spark needs Java, and jars that it does not include, and so does a local Kafka broker; they are downloaded once.
.venv/.spark-ready: .venv/.ready src/treaty/spark/jars.py src/treaty/spark/class_archive.py src/treaty/kafka/jars.py
	@$(BIN)/python -m treaty.spark.java > /dev/null 2>&1 || { $(INSTALL_JAVA); } || $(BIN)/python -m treaty.spark.java
	@$(BIN)/python -m treaty.spark.jars > /dev/null
	@$(BIN)/python -m treaty.kafka.jars > /dev/null
	@$(BIN)/python -m treaty.spark.class_archive > /dev/null
	@touch $@

setup: .venv/.ready .venv/.spark-ready ## install everything into .venv, with the treaty command in it

demo: setup ## a contract, a run with quarantined rows, a refused pull request and the catalog, in a minute
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/retail/demo.sh

demo-kafka: setup ## the retail example over Kafka topics, with a local broker
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/retail/demo_kafka.sh

demo-gym: setup ## publishers of events, certified and swapped, in a minute; Kafka is used if it runs
	@$(BIN)/python -m examples.gym.demo

tour: setup ## every part of Treaty on the retail example, in 28 steps
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/retail/tour.sh

check: setup ## format, lint, types, import directions
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo > .venv/import-linter.log 2>&1 || { cat .venv/import-linter.log; exit 1; }

browser: # the tests of the pages need a browser, and nothing else does
	@{ $(FIND_CHROMIUM); } || { $(INSTALL_CHROMIUM); } || { echo "the tests of the pages need Chromium; install it (Debian: apt-get install chromium), or set TREATY_CHROMIUM to its path" >&2; exit 1; }

test: check browser ## all checks, then all tests
	$(BIN)/pytest -q -n auto

faults: setup ## tests too slow for `make test`: the tour, outages, hangs and full disks, killed runs, many API requests, a Spark cluster
	timeout 15m $(BIN)/pytest -q tests/faults

soak: setup ## memory of a server under load for an hour
	$(BIN)/python -m benchmarks.soak --minutes 60

test-fast: .venv/.ready ## the fast tests: no Spark, browser, PostgreSQL or Kafka, for the edit loop
	$(BIN)/pytest -q -n auto -m "not spark and not browser and not postgresql and not kafka and not slow"

format: setup ## put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup ## write the reference pages from the code
	$(BIN)/treaty explain kinds --format markdown > docs/kinds.md
	$(BIN)/treaty explain rules --format markdown > docs/rules.md
	$(BIN)/python -m treaty.server.reference > docs/api.md

docs-site: .venv/.ready ## build the documentation site from docs/ into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

bench: setup ## measure speed against a floor and against peers
	$(BIN)/python -m benchmarks

bench-enforce: setup ## measure enforcement on Spark against a scan and against peers
	$(BIN)/python -m benchmarks enforce

bench-pipeline: setup ## measure the pipeline against a job by hand and on a longer history
	$(BIN)/python -m benchmarks pipeline

clean: ## remove what setup and the tools made
	rm -rf .venv .uv .bench site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
