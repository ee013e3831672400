# Every target makes its own .venv and installs what it needs; a second run starts at once.
#   make demo | test | quick | lint | bench | bench-quick | attack | docs | clean    PYTHON=python3.12 make ... picks the interpreter
#   make test-lowest     the tests with the lowest versions of packages that pyproject.toml allows
#   make test-all        the tests with each of PYTHONS that is found

PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/python

# Interpreters: the oldest supported, and all.
LOWEST  ?= python3.11
PYTHONS ?= python3.11 python3.12 python3.13 python3.14

.PHONY: demo test quick pytest test-lowest test-all lint bench bench-quick attack docs clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

# Three short examples, an arm at work, and a cell from a goal to torques; all take a minute or two after the installation.
demo: $(VENV)/.demo
	$(RUN) examples/04_robot.py
	$(RUN) examples/06_dynamics.py
	$(RUN) examples/16_inverse_kinematics.py
	$(RUN) examples/20_puma_at_work.py
	$(RUN) examples/32_cell.py

# Random examples are the same in every run; make test OPTIONS=--hypothesis-profile=random draws new ones.
test: lint $(VENV)/.pddlgym
	$(RUN) -m pytest $(OPTIONS)

# Style, and the core of every module, in about a minute. It ends with the tests that should be marked slow.
quick: $(VENV)/.pddlgym
	$(RUN) -m ruff check .
	$(RUN) -m pytest --quick --durations=10 --durations-min=1 $(OPTIONS)

pytest: $(VENV)/.pddlgym
	$(RUN) -m pytest $(OPTIONS)

# Old packages warn of what newer ones deprecate; only here warnings are no errors.
test-lowest:
	mkdir -p build
	$(LOWEST) tests/lowest.py > build/lowest.txt
	PIP_CONSTRAINT=$(CURDIR)/build/lowest.txt $(MAKE) pytest VENV=.venv-lowest PYTHON=$(LOWEST) OPTIONS="-W default"

test-all:
	@for p in $(PYTHONS); do \
	  if ! $$p -c "" 2>/dev/null; then missing="$$missing $$p"; \
	  elif $(MAKE) pytest VENV=.venv-$$p PYTHON=$$p; then passed="$$passed $$p"; \
	  else failed="$$failed $$p"; fi; \
	done; \
	echo "passed:$${passed:- none}; failed:$${failed:- none}; not found:$${missing:- none}"; \
	test -n "$$passed" -a -z "$$failed"

lint: $(VENV)/.dev
	$(RUN) -m ruff check .
	$(RUN) -m pyright

# All benchmarks, in 30 minutes at most, beside their peers; and the plots and tables of the pages.
bench: $(VENV)/.bench $(VENV)/.pybotics .venv-optimal/.crocoddyl
	$(RUN) bench/run.py

# A few of each, in 5 minutes at most; results and plots are in build/bench.
bench-quick: $(VENV)/.bench $(VENV)/.pybotics .venv-optimal/.crocoddyl
	$(RUN) bench/run.py --quick

attack: $(VENV)/.dev
	$(RUN) attack

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict # --quiet would hide warnings from --strict, too
	@echo "open site/index.html"

clean:
	rm -rf $(VENV) .venv-* site build dist examples/output .pytest_cache .ruff_cache .hypothesis

# pip is the last file `venv` writes, so its presence means a complete environment.
$(VENV)/bin/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "adjoint needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

# pybotics runs with our NumPy, but its bound numpy<2 keeps it out of the extra `bench`.
$(VENV)/.pybotics: $(VENV)/.bench
	$(RUN) -m pip install -qq --disable-pip-version-check --no-deps pybotics attrs
	@touch $@

# pddlgym has files of planning tasks, which tests read; its bound pillow<10 keeps it out of the extra `dev`.
$(VENV)/.pddlgym: $(VENV)/.dev
	$(RUN) -m pip install -qq --disable-pip-version-check --no-deps pddlgym
	@touch $@

# crocoddyl needs a Pinocchio older than ours. Where it cannot be installed, the other benchmarks run without it.
.venv-optimal/.crocoddyl: pyproject.toml
	$(PYTHON) -m venv .venv-optimal
	-.venv-optimal/bin/python -m pip install -qq --disable-pip-version-check \
	    -e . example-robot-data crocoddyl 'libpinocchio<4.1' 'pin<4.1' && touch $@

# .venv/.EXTRA stamps `pip install -e .[EXTRA]`.
$(VENV)/.%: pyproject.toml | $(VENV)/bin/pip
	$(RUN) -m pip install -qq --disable-pip-version-check -e '.[$*]'
	@touch $@
