# Everything a newcomer needs: `make demo`, `make test`. The set-up makes a virtual environment of its own.
PYTHON ?= python3
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-slurm test-faults test-versions check faults fuzz bench bench-study docs format clean

demo: .venv/ready
	$(BIN)/snakemake --cores all

test: .venv/ready
	$(BIN)/pytest --numprocesses auto --dist loadfile

# On a Slurm of one node, started here; as root on Debian. The plugins stand beside .venv's packages, for Snakemake
# loads each one that it finds at every start.
test-slurm: .venv/slurm/ready
	tests/workflow/slurm/cluster install
	$(BIN)/pytest -rs tests/workflow/slurm

# Runs killed and disks full, hundreds of times (half an hour; mounting a small disk takes root, else: unshare -rm make ...).
test-faults: .venv/ready
	$(BIN)/python -m tests.campaigns.interruptions

# The same numbers from the oldest libraries that pyproject.toml allows and from newer Pythons, as far as they are here.
VERSIONS ?= python3.11=oldest python3.12=newest python3.13=newest python3.14=newest
test-versions: .venv/ready
	$(BIN)/python -m tests.campaigns.versions $(VERSIONS)

# One lint is not followed: the environment is this project's own, made by pip from pyproject.toml.
check: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile
	! $(BIN)/snakemake --lint 2>&1 | grep '^    \* ' | grep -v 'Specify a conda environment'

# Damaged C3D files, 11,000 of them: each is read or refused by name (7 minutes). Then settings and tables, results, and
# a hundred trials of which up to half are bad (10 minutes).
fuzz: .venv/ready
	$(BIN)/python -m tests.campaigns.fuzz_c3d
	$(BIN)/python -m tests.campaigns.fuzz_texts
	$(BIN)/python -m tests.campaigns.fuzz_netcdf
	$(BIN)/python -m tests.campaigns.bad_trials

# Recordings with faults of known dose: how many are told, and for the right reason (6 minutes).
faults: .venv/ready
	$(BIN)/python -m tests.campaigns.fault_campaign

# What a study costs, against other ways and against goals (8 minutes); OpenSim, too, after pip install -e '.[bench]'.
bench: .venv/ready
	$(BIN)/python -m benchmarks

# The same with a study of 20 sessions of 20 walks, and with 1 to 100 sessions run (20 minutes).
bench-study: .venv/ready
	$(BIN)/python -m benchmarks full

docs: .venv/ready
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build
	@echo "Open $(CURDIR)/docs/_build/index.html in a browser."

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache docs/_build

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

.venv/slurm/ready: .venv/ready
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade --no-deps --target .venv/slurm \
		snakemake-executor-plugin-slurm snakemake-executor-plugin-slurm-jobstep snakemake-executor-plugin-cluster-generic
	touch $@
