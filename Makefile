# Yurt's front door: every target sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup run test fuzz lint format bench lock clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Yurt needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "making $(VENV) failed: on Debian and Ubuntu run 'apt-get install python3-venv' first"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

run: setup
	$(BIN)/yurt agent -dev

# As many workers as cores; tests of one file stay together, since they share agents and daemons.
test: setup
	$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

# Many times the random examples that `make test` tries; another seed each time.
fuzz: setup
	YURT_FUZZ_TIMES=$(or $(TIMES),60) HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest -n auto --dist loadgroup --timeout 7200 tests/fuzz $(ARGS)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/python -m benchmarks $(ARGS)

# Renew requirements.lock from pyproject.toml (needs uv).
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --group dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build dist
