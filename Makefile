# Everything a newcomer needs: `make demo`, `make test`. The set-up makes a virtual environment of its own.
PYTHON ?= python3
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test check bench docs format clean

demo: .venv/ready
	$(BIN)/snakemake --cores all
	@echo "Open $(CURDIR)/data/demo/derived/report.html in a browser."

test: .venv/ready
	$(BIN)/pytest --numprocesses auto --dist loadfile

# One lint is not followed: the environment is this project's own, made by pip from pyproject.toml.
check: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile
	! $(BIN)/snakemake --lint 2>&1 | grep '^    \* ' | grep -v 'Specify a conda environment'

bench: .venv/ready
	$(BIN)/python -m benchmarks

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
