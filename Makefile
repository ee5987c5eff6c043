# Everything here sets itself up: the only things to have first are git and make.
# PYTHON chooses the Python (3.10 or newer) that .venv is made with.

PYTHON ?= python3
SECONDS ?= 60
venv := .venv
python := $(venv)/bin/python
build_inputs := pyproject.toml setup.py tmux_wait/_build.py $(wildcard csrc/*.[ch] csrc/*.inc)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test lint test-sanitize fuzz fuzz-corpus test-matrix tmux-versions bench bench-waits dist clean system-packages

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(venv)/.installed ## wait for a real program, through the command line and through MCP
	$(python) docs/demo/demo.py

test: $(venv)/.installed-strictly lint ## lint, then run the whole suite on the tmux installed here
	$(python) -m pytest

lint: $(venv)/.installed ## ruff and mypy --strict
	$(venv)/bin/ruff check .
	$(venv)/bin/ruff format --check .
	$(venv)/bin/mypy --strict

test-sanitize: $(venv)/.installed ## the C core's own tests, with sanitizers; then the stream tests on such a core
	scripts/test-sanitize

fuzz: ## fuzz each part of the C core for SECONDS (60)
	@scripts/fuzz-packages
	scripts/fuzz $(SECONDS)

fuzz-corpus: ## keep in csrc/fuzz/corpus the few inputs that reach all that `make fuzz` reached
	@scripts/fuzz-packages
	scripts/fuzz merge

test-matrix: $(venv)/.installed-strictly tmux-versions ## run what drives tmux on five versions of it
	$(python) tests/matrix/run $(MATRIX_ARGS)

tmux-versions: system-packages ## fetch those five versions into .tmux-versions
	tests/matrix/fetch

bench: $(venv)/.installed-for-bench ## the stream core beside its peers: bench/results, and README's table
	@bench/system-packages
	$(python) -m bench

bench-waits: $(venv)/.installed ## what a wait costs, beside the floor it stands on
	$(python) bench/waits.py

dist: $(venv)/.installed ## build the sdist and the wheel into dist
	$(python) -m build

clean: ## remove what was built; .venv and .tmux-versions stay
	scripts/clean

system-packages:
	@PYTHON=$(PYTHON) scripts/system-packages

$(venv)/.installed: $(build_inputs) | system-packages
	PYTHON=$(PYTHON) scripts/install $(venv)
	touch $@

# The same with what the benchmarks compare with.
$(venv)/.installed-for-bench: $(build_inputs) | system-packages
	PYTHON=$(PYTHON) EXTRAS=test,bench scripts/install $(venv)
	touch $@ $(venv)/.installed

# The same with every warning of the C compiler an error.
$(venv)/.installed-strictly: $(build_inputs) | system-packages
	PYTHON=$(PYTHON) TMUX_WAIT_WERROR=1 scripts/install $(venv)
	touch $@ $(venv)/.installed
