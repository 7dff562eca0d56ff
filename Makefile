# make run     build and start the service on port 8080 with the sample feed
# make test    everything that has to pass
# make bench   side by side with its peers: Benchmarks/RESULTS.md
# make manual  man page and shell completions, in .build/manual
# make format  bring every Swift file into the project's form
# Each target installs the Debian packages it needs, as root or through sudo, and says so.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run test bench fuzz format install-build install-test install-bench manual

BUILD := swift build --explicit-target-dependency-import-check error
RELEASE := $(BUILD) -c release --product intertwine
PORT ?= 8080
ADMIN_PORT ?= 8081
DATABASE ?= data/intertwine.sqlite

help:
	@grep '^# make' Makefile | cut -c3-

install-build:
	@Config/install libcurl4-openssl-dev zlib1g-dev libsqlite3-dev pkg-config

install-test: install-build
	@Config/install sqlite3 curl procps python3-venv
	@[ -x .build/python/bin/python3 ] || python3 -m venv .build/python
	@.build/python/bin/python3 -c 'import prometheus_client' 2>/dev/null || .build/python/bin/pip install --quiet prometheus_client

install-bench: install-build
	@Config/install sqlite3 curl nginx-light wrk

run: install-build
	$(RELEASE)
	@PORT=$(PORT) ADMIN_PORT=$(ADMIN_PORT) DATABASE=$(DATABASE) Config/run

test: install-test
	swift format lint --recursive --strict Package.swift Sources Tests
	$(BUILD) --build-tests
	swift test --skip-build

manual: install-build
	$(RELEASE)
	swift package generate-manual
	@mkdir -p .build/manual
	@cp .build/plugins/GenerateManual/outputs/intertwine/intertwine.1 .build/manual/
	@for shell in bash zsh fish; do \
		"$$(swift build -c release --show-bin-path)/intertwine" --generate-completion-script $$shell > .build/manual/intertwine.$$shell; done

format:
	swift format --in-place --recursive Package.swift Sources Tests
