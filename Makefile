# make run              build the service and serve the sample feed on port 8080 (PORT, ADMIN_PORT and DATABASE select others)
# make run-ranked       the sample feed, ranked by Examples/ranker, which learns what viewers open (needs Python)
# make run-replicas     three replicas on a throw-away PostgreSQL cluster behind HAProxy on port 8080 (installs both)
# make test-module      builds and runs the tests of one module (M=IntertwineFeed)
# make test             all tests in their small size; what has not changed since it passed is left out
# make test-all         all tests in full size, with the release build, the documents' examples and AddressSanitizer
# make test-clients     page through the feed with a generated Swift client, and check a TypeScript one (installs Java)
# make fuzz             ten million mutated inputs into the parsers, under AddressSanitizer (SECONDS=600: for that time instead)
# make bench            compare with other servers, results in .build/results.md
# make package          Debian package and tarball, in .build/package
# make container-check  perform the Dockerfile without Docker; install, upgrade and remove the package; test the results
# make docs             documentation of the library modules, in .build/documentation
# make site             the documentation as a site with search, in .build/site/html
# make screenshots      pictures of the documents, and first screens before and after in .build/screenshots (BINARY=FILE: of a finished program)
# make manual           man page and shell completions, in .build/manual
# make format           format every Swift file
# Each target installs the Debian packages it needs, as root or through sudo, and prints them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help run run-ranked run-replicas test test-module test-all test-threads test-clients bench fuzz format manual docs site screenshots package container-check install-build install-test install-bench

BUILD := swift build --explicit-target-dependency-import-check error --disable-index-store
# LOCKED=1 builds the versions of Package.resolved, and no others.
RELEASE := $(BUILD) -c release $(if $(LOCKED),--only-use-versions-from-resolved-file)
THREADED := EventLoopTests,HTTPServerTests,FetchTests,ImagesTests,StorageTests
, := ,
INPUTS ?= 10000000
SEED ?= 42
PORT ?= 8080
ADMIN_PORT ?= 8081
DATABASE ?= data/intertwine.sqlite

help:
	@grep '^# make' Makefile | cut -c3-

install-build:
	@Tools/install libcurl4-openssl-dev libssl-dev libdeflate-dev zlib1g-dev libsqlite3-dev libvips-dev libpq-dev pkg-config curl

install-test: install-build
	@Tools/install sqlite3 postgresql haproxy nginx-light procps libvips-tools gcc libc6-dev binutils dpkg-dev python3-venv python3-selenium python3-yaml chromium chromium-driver prometheus nodejs node-typescript node-react node-react-test-renderer node-vue openjdk-17-jdk-headless
	@[ -x .build/python/bin/python3 ] || python3 -m venv .build/python
	@.build/python/bin/python3 -c 'import prometheus_client' 2>/dev/null || .build/python/bin/pip install --quiet prometheus_client
	@# A bucket, and what signatures it wants.
	@.build/python/bin/python3 -c 'import moto.moto_server.werkzeug_app' 2>/dev/null || .build/python/bin/pip install --quiet 'moto[s3]==5.2.5' flask flask-cors
	@# The schemas of Kubernetes, of workflows and compose files, and of bills of materials.
	@.build/python/bin/python3 -c 'import kubernetes_validate, check_jsonschema, cyclonedx.validation.json, jsonschema' 2>/dev/null || \
		.build/python/bin/pip install --quiet kubernetes-validate==1.37.0 check-jsonschema==0.39.0 'cyclonedx-python-lib[json-validation]==11.12.0'
	@# Vectors of signatures, and a Kotlin compiler.
	@.build/python/bin/python3 -c 'import cryptography_vectors' 2>/dev/null || .build/python/bin/pip install --quiet cryptography_vectors
	@ls .build/python/lib/python3*/site-packages/run_kotlin_kernel >/dev/null 2>&1 || .build/python/bin/pip install --quiet kotlin-jupyter-kernel==0.19.0.944
	@# Lists of robots, and of browsers.
	@.build/python/bin/python3 -c 'import crawleruseragents, device_detector' 2>/dev/null || .build/python/bin/pip install --quiet crawler-user-agents==1.67.0 device-detector==6.5.1
	@# For the axe-core within it.
	@ls .build/python/lib/python3*/site-packages/axe_playwright_python/axe.min.js >/dev/null 2>&1 || .build/python/bin/pip install --quiet --no-deps axe-playwright-python

install-bench: install-build
	@Tools/install sqlite3 nginx-light wrk libvips-tools gcc libc6-dev libssl-dev

run: install-build
	$(RELEASE) --product intertwine
	$(RELEASE) --product intertwine-image-worker
	@mkdir -p "$(dir $(DATABASE))"
	@exec "$$(swift build -c release --show-bin-path)/intertwine" serve --sample --port $(PORT) --admin-port $(ADMIN_PORT) --database $(DATABASE)

run-ranked: DATABASE = data/ranked.sqlite
run-ranked: install-build
	$(RELEASE) --product intertwine
	$(RELEASE) --product intertwine-image-worker
	@Examples/ranker/run "$$(swift build -c release --show-bin-path)/intertwine" $(PORT) $(ADMIN_PORT) $(DATABASE)

run-replicas: install-build
	@Tools/install postgresql haproxy
	$(RELEASE) --product intertwine
	$(RELEASE) --product intertwine-image-worker
	@PORT=$(PORT) Deploy/run-replicas

# Temporary files of tests and browser are removed with their folder.
test: install-test
	@folder=$$(mktemp -d); trap 'chmod -R u+w "$$folder"; rm -rf "$$folder"' EXIT; TMPDIR=$$folder Tests/run

test-all: install-test
	@folder=$$(mktemp -d); trap 'chmod -R u+w "$$folder"; rm -rf "$$folder"' EXIT; TMPDIR=$$folder Tests/run all

test-module: install-test
	@folder=$$(mktemp -d); trap 'chmod -R u+w "$$folder"; rm -rf "$$folder"' EXIT; TMPDIR=$$folder Tests/run module $(or $(M),$(error M is the name of a module, such as M=IntertwineFeed))

# Multithreaded code under ThreadSanitizer. On Linux it does not recognize the locks of Swift's Synchronization module and reports
# accesses that they protect: look for findings outside of withLock. The findings need review, so the target is not part of `make test`.
test-threads: install-test
	INTERTWINE_TESTS=$(THREADED) $(BUILD) --product intertwinePackageTests --sanitize=thread --scratch-path .build-thread
	.build-thread/debug/intertwinePackageTests.xctest --testing-library swift-testing --no-parallel --filter '$(subst $(,),|,$(THREADED))'

# Clients generated from the API description. They need a Java runtime and a TypeScript compiler.
test-clients: install-test
	@Tools/install default-jre-headless node-typescript
	$(BUILD) --product intertwine
	Tests/EndToEnd/DescriptionTests/clients/run

fuzz: install-build
	$(BUILD) --sanitize=address --scratch-path .build-address --product ParserFuzz
	.build-address/debug/ParserFuzz $(if $(SECONDS),$(SECONDS)s,$(INPUTS)) $(SEED)

# Statically linked: the package runs without a Swift installation.
package: install-build
	@Tools/install dpkg-dev python3
	$(RELEASE) --static-swift-stdlib --product intertwine
	$(RELEASE) --static-swift-stdlib --product intertwine-image-worker
	@Tools/manual "$$(swift build -c release --show-bin-path)/intertwine"
	@Tools/package

# One release build: the package has the programs of the Dockerfile's build stage.
container-check: install-build
	@Tools/install debootstrap dpkg-dev iproute2 python3-yaml
	Tests/EndToEnd/ContainerTests/run

bench: install-bench
	$(RELEASE) --product intertwine
	$(RELEASE) --product intertwine-image-worker
	$(RELEASE) --product sample-origin
	swift build -c release --package-path Benchmarks
	Benchmarks/run

manual: install-build
	$(RELEASE) --product intertwine
	@Tools/manual "$$(swift build -c release --show-bin-path)/intertwine"

docs: install-build
	$(BUILD) --product intertwine
	$(BUILD) --target IntertwineUI
	@Tools/docs

site:
	@Tools/install python3-venv
	@Tools/site/make

screenshots: install-test
	$(if $(BINARY),,$(RELEASE) --product intertwine)
	$(if $(BINARY),,$(RELEASE) --product intertwine-image-worker)
	Tests/EndToEnd/WebClientTests/screenshots --binary $(or $(BINARY),.build/release/intertwine) Documentation/images

format:
	swift format --in-place --recursive Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources \
		Clients/Swift/{Package.swift,Sources,Tests} Tools/doc-examples.swift
