# Every target sets up what it needs: Python 3.11 or newer and make are enough.
# `make` alone lists the targets.

PYTHON ?= python3
PYTEST_ARGS ?=
LINKS_ARGS ?=
LIGHTHOUSE_ARGS ?=
ATTACK_ARGS ?=
TORCH_PYTHON ?= $(PYTHON)
UPGRADE ?=
UV_VERSION := 0.13.8

BIN := .venv/bin
LOCK_ENV := build/lock-env
COMPILE = $(LOCK_ENV)/bin/uv pip compile --quiet --no-config $(if $(UPGRADE),--upgrade) \
  --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-emit-index-url \
  --custom-compile-command "make lock"

# Material for MkDocs prints a notice about MkDocs 2 on every start.
export NO_MKDOCS_2_WARNING := 1
# Python keeps what it has compiled, whatever the surroundings say: each target starts many programs.
export PYTHONDONTWRITEBYTECODE :=
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The rest of a file of tests waits for ever for a worker that takes the place of one that died.
PYTEST = $(BIN)/python -m pytest -n auto --dist loadgroup --no-loadscope-reorder --max-worker-restart 0

.DEFAULT_GOAL := help
.PHONY: help setup site book serve test check lint links bench lighthouse screenshots attack bill jax torch lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

setup: ## make .venv ready (every other target does this by itself)
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
	  echo "set-up: '$(PYTHON)' was not found. Install Python 3.11 or newer, or name it: make PYTHON=/path/to/python3" >&2; exit 2; }
	@"$(PYTHON)" -m scripts.setup_env

site: setup ## build the whole site into site/ (FLOPBOOK_JAX=0 leaves the notebooks in JAX unexecuted)
	@$(BIN)/python -m scripts.setup_jax
	@$(BIN)/python -m scripts.build_site

book: setup ## make the handbook as PDF and ePub in build/book/ (builds the site first if that is stale)
	@$(BIN)/python -m scripts.ensure_browser
	@$(BIN)/python -m scripts.build_book

serve: setup ## show the site at a local address, with live reload
	@$(BIN)/python -m scripts.serve

test: setup ## run every test (PYTEST_ARGS="-k roofline" to choose)
	@$(BIN)/python -m scripts.ensure_browser
	@$(PYTEST) $(PYTEST_ARGS)

check: lint ## lint, types and every short test that needs no browser, for everyday use
	@$(PYTEST) -m "not browser and not long" --ignore tests/website/site $(PYTEST_ARGS)

lint: setup ## check data, code style, formatting, types, which room imports which, and workflows
	@$(BIN)/flopbook lint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/zizmor --offline --quiet --no-progress .github
	@if command -v actionlint >/dev/null; then actionlint; else echo "lint: no actionlint here; the workflow 'test' runs it"; fi
	@if command -v shellcheck >/dev/null; then shellcheck .ci/*; fi

links: setup ## check every outside link of data and prose
	@$(BIN)/python -m scripts.check_links $(LINKS_ARGS)

bench: setup ## measure the speeds that the project promises
	@$(BIN)/python -m scripts.bench

lighthouse: setup ## measure 14 templates of the built site with Lighthouse (needs Node; LIGHTHOUSE_ARGS="--runs 3 chip")
	@$(BIN)/python -m scripts.ensure_browser
	@$(BIN)/python -m scripts.lighthouse $(LIGHTHOUSE_ARGS)

screenshots: setup ## take pictures of 14 templates of the built site: light, dark, phone
	@$(BIN)/python -m scripts.ensure_browser
	@$(BIN)/python -m scripts.screenshots

attack: setup ## try hostile data, prose, files and moments on the project (ATTACK_ARGS="--seed 7 titles" to choose)
	@$(BIN)/python -m scripts.ensure_browser
	@$(BIN)/python -m scripts.attack $(ATTACK_ARGS)

bill: setup ## build the wheel into dist/, with its hashes and its bill of materials
	@rm -rf dist
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@$(BIN)/python -m scripts.bill

jax: setup ## install JAX beside .venv and execute the notebooks that need it
	@$(BIN)/python -m scripts.setup_jax --run

torch: setup ## run and record the notebooks in PyTorch (TORCH_PYTHON=/path/to/python names one that has it)
	@$(BIN)/python -m scripts.record_notebooks --python "$(TORCH_PYTHON)"

lock: setup ## rewrite requirements/lock.txt and jax.txt from the .in files (UPGRADE=1 takes newer versions)
	@$(BIN)/python -m venv $(LOCK_ENV)
	@$(LOCK_ENV)/bin/python -m pip install --quiet uv==$(UV_VERSION)
	@$(COMPILE) --output-file requirements/lock.txt \
	  requirements/runtime.in requirements/site.in requirements/test.in requirements/build.in
	@$(COMPILE) --constraint requirements/lock.txt --output-file requirements/jax.txt requirements/jax.in
	@echo "lock: requirements/lock.txt and jax.txt are written; the next target installs them"

clean: ## remove everything that was built (.venv stays; rm -rf .venv* removes that too)
	@rm -rf site site.* build dist .cache .pytest_cache .ruff_cache .hypothesis *.egg-info calculators/*.egg-info
	@find . -path './.venv*' -prune -o -path ./.git -prune -o -name __pycache__ -type d -exec rm -rf {} +
	@echo "clean: done"
