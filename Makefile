# Everything starts here; `make help` lists it. tests/make does the work.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
do := @$(SHELL) tests/make/start
# Make exports its arguments. Only such a KUBECONFIG counts here, not one that was exported before.
cluster demo: given = $(if $(filter command,$(origin KUBECONFIG)),--kubeconfig "$$KUBECONFIG")

help: ## this list
	@while IFS= read -r line; do case $$line in \
		[a-z]*": ## "*) printf '  make %-13s %s\n' "$${line%%:*}" "$${line#*## }" ;; \
	esac; done < $(firstword $(MAKEFILE_LIST))

demo: ## start a local Kubernetes, and deploy the example release to it
check: ## what a change needs while you work: style, types, suites, and the unit tests of changed files
test: ## run all tests and checks; goes on after a failure, and fails at the end; LANES=1 runs each step alone
test-all: ## for a night: every version at hand, all faults, bench; goes on where it was ended, ends with a page
step-table: ## write what the steps of the last `make test` took to tests/README.md
cluster: ## start or reuse a Kubernetes to test on; leaves .cluster/kubeconfig
cluster-down: ## end it and leave no process behind
bench: ## measure deployments against kubectl, Helm and kubernetes.core; writes docs/benchmarks.md
pictures: ## make the pictures of the documentation again, from real runs

setup: ## install everything that the other commands need, into .build
locks: ## write what `setup` installs, with hashes, after a change of tests/requirements; UPGRADE=1: newer versions
build: ## build the programs of a Kubernetes, into .build/bin
style: ## ruff: lint and format
types: ## mypy --strict
yaml: ## yamllint
changelog: ## antsibull-changelog: fragments
docs: ## antsibull-docs: the documentation of every option
site: ## build the documentation as a site, into .build/site/html, and check its links
release: ## VERSION=1.2.3: set the version and turn the fragments into notes, ready for a commit and a tag
notes: ## write the notes of the version in galaxy.yml as Markdown, into .build/notes.md
tarball: ## build the tarball of a release into .build/tarball: the same bytes everywhere, with SBOM and checksums
workflows: ## actionlint: the workflows of GitHub
audit: ## pip-audit: known vulnerabilities of what is installed, where PyPI's service answers
suites: ## check that each test belongs to one suite
changed: ## the unit tests of the files that differ from the main branch
unit: ## unit tests, without a cluster; ROOM=_errands: those of one room
unit-all: ## unit tests on each ansible-core and Python at hand; CORE=2.20: on that one
newest: ## unit tests and sanity on the newest of all versions, without locks; CORE=2.21, CORE=devel: on that one
unit-oldest: ## those that touch Ansible or a library, on the lowest versions that the collection promises
integration: ## tests against a Kubernetes
kubernetes-oldest: ## the tests of what depends on the API server or Helm, with the oldest versions of both
some-faults: ## each fault that a run survives, by one test that chance chooses
faults: ## all of them, which takes long; goes on where it was ended; SEED=<number> repeats a run
molecule: ## molecule scenarios
containers: ## tests that need real containers, on kind; uses the kind cluster that runs, if there is one
kind: ## molecule's scenario kind and these tests, on one kind cluster
sanity: ## ansible-test sanity: all on the newest ansible-core, compile and import on the oldest
sanity-all: ## all of it on each ansible-core; CORE=2.20: on that one
lint: ## ansible-lint, production profile
galaxy: ## what Galaxy shows of the tarball of a release, and finds in it
fix: ## fix what ruff can, and generate the documentation

verbs := demo check test test-all step-table cluster cluster-down bench pictures setup locks build style types yaml \
	changelog docs site release notes tarball workflows audit suites changed unit unit-all newest unit-oldest integration \
	kubernetes-oldest some-faults faults molecule containers kind sanity sanity-all lint galaxy fix

$(verbs):
	$(do) $@ $(given)

.PHONY: help $(verbs)
