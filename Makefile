# A newcomer needs two commands, `make demo` and `make test`. They install into .venv: the first what running needs, the
# second also what development needs.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
NEW_ENOUGH = $(shell $(PYTHON) -c "import sys; print(sys.version_info >= (3, 11))" 2>/dev/null)
FOUND = $(or $(shell $(PYTHON) -c "import sys; print(sys.version.split()[0])" 2>/dev/null),not installed)
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test quick times test-slurm test-faults test-versions test-extras mutations check settings faults fuzz bench \
	bench-study docs format clean

demo: .venv/ready
	$(BIN)/gaitlab run data/demo

# Every test; AFTER=quick leaves out those that `make quick` has just run.
AFTER ?=
test: .venv/ready-dev
	$(BIN)/pytest $(if $(filter quick,$(AFTER)),--slow) --numprocesses auto --dist loadfile --no-loadscope-reorder

# While you work: no test that starts a process or is recorded as slow; under two minutes.
quick: .venv/ready-dev
	$(BIN)/pytest --quick --numprocesses auto --dist loadfile

# Every test, or those of TESTS; writes the processor time of each to tests/slow_tests.tsv.
TESTS ?= tests
times: .venv/ready-dev
	$(BIN)/pytest --record-times --numprocesses auto --dist loadfile --no-loadscope-reorder $(TESTS)

# On a Slurm of one node, started here; as root on Debian. The plugins are installed apart from .venv's packages, because
# Snakemake loads each one that it finds at every start.
test-slurm: .venv/slurm/ready
	tests/workflow/slurm/cluster install
	$(BIN)/pytest -rs tests/workflow/slurm

# What reruns when anything changes, compared with tests/campaigns/reruns.tsv; runs killed and disks full, hundreds of
# times, 20 of the kills with OpenSim at work (about an hour; a small disk takes root, else: unshare -rm make ...).
test-faults: .venv/ready-dev
	$(BIN)/python -m tests.campaigns.reruns
	$(BIN)/python -m tests.campaigns interruptions

# The same numbers from the oldest libraries that pyproject.toml allows and from newer Pythons, if installed.
VERSIONS ?= python3.11=oldest python3.12=newest python3.13=newest python3.14=newest
test-versions: .venv/ready-dev
	$(BIN)/python -m tests.campaigns versions --environments $(VERSIONS)

# Each extra deleted from a copy, and all of them: the rest works, and its quick tests pass.
test-extras: .venv/ready-dev
	$(BIN)/python -m tests.campaigns extras

# One-line mistakes in the product, each in a copy of it: its test in tests/campaigns/mutations.txt must fail (2 minutes).
mutations: .venv/ready-dev
	$(BIN)/python -m tests.campaigns.mutations --jobs 2

# The linters, whether generated settings are stale, and what the change since BASE (the merge base) does to the size of the code.
BASE ?=
RULES := Snakefile pipeline/workflow/cluster.smk $(wildcard pipeline/extras/*/*.smk)
check: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check $(RULES)
	$(BIN)/snakemake --lint
	$(BIN)/python -m pipeline.workflow.declared_settings --check
	$(BIN)/python -m tests.code_counts $(BASE)

# Writes what is generated: config/settings.schema.yaml and config/default.yaml from the settings that the steps declare,
# the tables of docs/, the lists of CONTRIBUTING.md.
settings: .venv/ready-dev
	$(BIN)/python -m pipeline.workflow.declared_settings
	$(BIN)/python docs/reference.py
	$(BIN)/python -m tests.walls

# Damaged C3D files, 11,000 of them: each is read or refused by name (7 minutes). Then settings and tables, results, and
# a hundred trials of which up to half are bad (10 minutes). Then 3,000 study folders and what init says of them.
fuzz: .venv/ready-dev
	$(BIN)/python -m tests.campaigns fuzz_c3d
	$(BIN)/python -m tests.campaigns fuzz_texts
	$(BIN)/python -m tests.campaigns fuzz_netcdf
	$(BIN)/python -m tests.campaigns bad_trials
	$(BIN)/python -m tests.campaigns layouts --count 3000 --seed 1

# Recordings with faults of known dose: how many are found, and for the right reason; clean ones of every way of moving:
# how many stances are refused; corrupted twins: what finds each fault, and the harm of the rest; sound walks: false
# alarms; cut walks: moments that an end changes; walks with soft-tissue motion: the errors of both kinematic methods; walks with foot impacts: those of every
# filter, which go into docs/cutoffs.md (16 minutes).
# Then the tests of which `make test` runs a few seeds, with all of them.
faults: .venv/ready-dev
	$(BIN)/python -m tests.campaigns fault_campaign
	$(BIN)/python -m tests.campaigns moving_campaign
	$(BIN)/python -m tests.campaigns corrupted_twins --jobs 2
	$(BIN)/python -m tests.campaigns sound_walks --jobs 2
	$(BIN)/python -m tests.campaigns sound_walks --people moving --jobs 2
	$(BIN)/python -m tests.campaigns cut_walks --jobs 2
	$(BIN)/python -m tests.campaigns soft_tissue
	$(BIN)/python -m tests.campaigns error_bands
	$(BIN)/python -m tests.campaigns filter_truth --write
	$(BIN)/python -m tests.campaigns extras.statistics.statistics_simulated
	FULL=1 $(BIN)/pytest tests/plates/test_channel_faults.py tests/campaigns/test_moving.py \
		tests/campaigns/test_error_bands.py tests/campaigns/test_whole_body_walks.py tests/dynamics \
		tests/steps/clean/test_label_swaps.py tests/steps/clean/test_spikes.py tests/commands/init/test_lab_layouts_judged.py

# What a study costs in processor time, against other ways, against goals, and against an earlier commit: 6caf5f3, or
# another: make bench AGAINST=COMMIT (estimated: 15 minutes). It fails if a measurement fails. With OpenSim after
# pip install -e '.[bench]'.
bench: .venv/ready-dev
	$(BIN)/python -m benchmarks $(if $(AGAINST),--against $(AGAINST))

# The same with studies of 20 sessions of 20 walks, an archive of 2,000 sessions, and 1 to 100 sessions run (hours).
bench-study: .venv/ready-dev
	$(BIN)/python -m benchmarks --full $(if $(AGAINST),--against $(AGAINST))

docs: .venv/ready-dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build
	@echo "Open $(CURDIR)/docs/_build/index.html in a browser."

format: .venv/ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt $(RULES)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache docs/_build

.venv/ready: pyproject.toml
	$(if $(filter True,$(NEW_ENOUGH)),,$(error Python 3.11 or newer is needed, $(PYTHON) is $(FOUND); \
		with another one: make demo PYTHON=python3.12))
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	touch $@

.venv/ready-dev: .venv/ready
	$(PIP) --editable '.[dev]'
	touch $@

.venv/slurm/ready: .venv/ready-dev
	$(PIP) --upgrade --no-deps --target .venv/slurm \
		snakemake-executor-plugin-slurm snakemake-executor-plugin-slurm-jobstep snakemake-executor-plugin-cluster-generic
	touch $@
