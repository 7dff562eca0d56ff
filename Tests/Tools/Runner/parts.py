"""The parts of `make test` and `make test-all`, in the order of their value: what begins first if the time is limited."""
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DEBUG = ".build/debug"
PYTHON = ".build/python/bin/python3"
BUNDLE = f"{DEBUG}/intertwinePackageTests.xctest"
CLIENT = "Clients/Swift"
# At most three processes that compute, on two cores: a part that computes has 2 of these, a part that mostly waits has 1.
CAPACITY = 6
COMPUTES, WAITS, BUILDS, ALONE = 2, 1, 4, CAPACITY
# For the parts whose stores are files of SQLite.
ON_SQLITE = ("IntertwinePostgreSQL", "CPostgreSQL")


@dataclass
class Part:
    name: str
    command: list
    # Seconds that it takes in each size on two cores that are not busy, with others beside it. None: not in that size.
    small: int | None
    full: int | None
    # The files that it reads, besides the sources of the targets (Package.swift) that it runs.
    inputs: list = field(default_factory=list)
    targets: list = field(default_factory=list)
    # Targets that the binary links and the part never runs, for which it does not run again.
    without: tuple = ()
    load: int = COMPUTES
    after: str | None = "build"
    environment: dict = field(default_factory=dict)
    # Suites of Swift Testing, with an event stream.
    suites: bool = False
    # Whether the full size is the small one.
    same: bool = False
    # Whether the whole part runs once more if it fails.
    again: bool = False

    def seconds(self, full):
        return self.full if full else self.small


def suites(name, small, full, *options, targets, inputs=(), bundle=BUNDLE, **more):
    command = [bundle, "--testing-library", "swift-testing", *options]
    # Tests compile the C programs while they run.
    return Part(name, command, small, full, ["Tests/Tools/KillStep", "Tests/Tools/MovableClock", "Tests/Tools/PowerCut", *inputs], targets, suites=True, **more)


def target(name, small, full, *options, parallel=False, **more):
    """All suites of one test target. The tests of most targets count descriptors, threads or bytes of their process, and run one after another."""
    options = (*options, *([] if parallel else ["--no-parallel"]))
    return suites(name, small, full, "--filter", rf"^{name}\.", *options, targets=[name], **more)


def end_to_end(name, small, full, pattern, *options, load=WAITS, **more):
    return suites(name, small, full, "--no-parallel", "--filter", rf"^EndToEndTests\.{pattern}", *options, targets=["EndToEndTests"],
                  inputs=["Config", "Deploy", "Documentation/how-to"], load=load, **more)


def program(name, command, small, full, inputs, variable="INTERTWINE_BINARY", targets=("intertwine", "intertwine-image-worker"),
            without=ON_SQLITE, **more):
    """A script that starts the built service."""
    return Part(name, command, small, full, inputs, list(targets), without, environment={variable: str(ROOT / DEBUG / "intertwine")}, **more)


# Timers of some milliseconds, and responses in time: nothing runs beside them.
TIMED = r"^HTTPServerTests\.(ConnectionTests|GracefulStopTests|HostileClientTests)/"
# Several processes on one database, and databases that fail.
REPLICAS = r"(Replica\w*Tests|RollingRestartTests|RunScriptTests|FrozenPrimaryTests|PointInTimeRecoveryTests)/"
# One test of each of the suites that are independent of the database, and one of two replicas.
POSTGRESQL = "|".join([
    "ActionTests/dismissal", "CountingTests/changingUserAgents", "FeedTests/walking", "OperationTests/changes", "SectionsTests/cursors",
    "TakedownTests/imports"])
ON_POSTGRESQL = {"TEST_DATABASE": "postgresql"}
FORMATTED = ["Package.swift", "Sources", "Tests", "Examples", "Benchmarks/Package.swift", "Benchmarks/Sources", f"{CLIENT}/Package.swift",
             f"{CLIENT}/Sources", f"{CLIENT}/Tests", "Tools/doc-examples.swift"]


def parts(build):
    """`build` is the command of a debug build, of the Makefile."""
    release = [*build, "-c", "release"]
    address = [*build, "--sanitize=address", "--scratch-path", ".build-address"]
    return [
        Part("format", ["swift", "format", "lint", "--recursive", "--strict", *FORMATTED], 16, 16, [*FORMATTED, ".swift-format"], after=None, same=True),
        Part("prose", ["Tests/Tools/ProseTests/run"], 6, 6, ["."], after=None, same=True),
        Part("folders", ["Tests/Tools/Runner/folders.py"], 1, 1, ["Sources"], after=None, same=True),
        # Resolves packages before two builds would do so concurrently.
        Part("packages", ["swift", "package", "resolve"], 10, 10, after=None, same=True),
        # Always performed: it has its own record of what changed.
        Part("build", [*build, "--build-tests"], 240, 240, after="packages", load=BUILDS, same=True),
        target("EventLoopTests", 8, 8, load=ALONE, same=True),
        suites("timed-suites", 20, 35, "--no-parallel", "--filter", TIMED, targets=["HTTPServerTests"], load=ALONE),

        # HAProxy takes a replica out after one check without an answer within 500 ms.
        end_to_end("rolling-restarts", None, 35, "RollingRestartTests/", load=ALONE),
        end_to_end("replica-suites", None, 300, REPLICAS, "--skip", "RollingRestartTests"),
        end_to_end("replica-suite", 10, None, r"ReplicaTests/alike"),
        program("web-client", ["Tests/EndToEnd/WebClientTests/run"], 60, 400, ["Tests/EndToEnd/WebClientTests", "Clients/JavaScript", "Sources/IntertwineService/WebClient"],
                "WEB_CLIENT_TESTS_BINARY", load=BUILDS),
        program("console-on-postgresql", ["env", "TEST_DATABASE=postgresql", "Tests/EndToEnd/WebClientTests/run", "console_cases"], None, 120,
                ["Tests/EndToEnd/WebClientTests", "Benchmarks/driver/postgresql.py", "Sources/IntertwineService/WebClient"], "WEB_CLIENT_TESTS_BINARY", load=BUILDS, without=()),
        end_to_end("postgresql-suites", None, 200, "(ActionTests|CountingTests|FeedTests|OperationTests|SectionsTests|TakedownTests)/",
                   environment=ON_POSTGRESQL),
        end_to_end("postgresql-suite", 20, None, f"({POSTGRESQL})", environment=ON_POSTGRESQL),
        # The suites of the service from outside, in three processes.
        end_to_end("outside-suites-1", 120, 230, "[A-E]", "--skip", REPLICAS),
        end_to_end("outside-suites-2", 120, 240, "[F-O]", "--skip", REPLICAS, without=ON_SQLITE),
        end_to_end("outside-suites-3", 120, 250, "[P-Z]", "--skip", REPLICAS, without=ON_SQLITE),
        target("ImagesTests", 70, 100, without=ON_SQLITE),
        target("StorageTests", 70, 220),
        target("ServiceTests", 60, 60, inputs=["Config", "Deploy", "Tools", "Documentation/reference", "Documentation/how-to", "Documentation/tutorials", "Examples"],
               without=ON_SQLITE),
        target("HTTPServerTests", 20, 60, "--skip", TIMED),
        target("FeedTests", 30, 60, parallel=True, inputs=["Conformance"]),
        target("PostgreSQLTests", 30, 50),
        target("FetchTests", 20, 30),
        target("SyncTests", 15, 20),
        target("IdentityTests", 10, 10),
        target("RoutingTests", 3, 3, parallel=True),
        target("PrimitivesTests", 3, 5, parallel=True),
        program("descriptions", ["Tests/EndToEnd/DescriptionTests/run"], 60, 120, ["Tests/EndToEnd/DescriptionTests", "Documentation/reference", "Conformance", "Config", "Deploy"]),
        Part("build-swift-client", [*build, "--package-path", CLIENT, "--build-tests"], 45, 45, load=BUILDS, same=True),
        suites("swift-client", 30, 80, "--no-parallel", bundle=f"{CLIENT}/{DEBUG}/IntertwineClientTestsPackageTests.xctest",
               targets=["intertwine"], without=ON_SQLITE, inputs=[CLIENT, "Conformance"], after="build-swift-client",
               environment={"INTERTWINE_BINARY": str(ROOT / DEBUG / "intertwine")}),
        program("javascript-client", ["Clients/JavaScript/tests/run"], 20, 30, ["Clients/JavaScript", "Conformance"], "CLIENT_TESTS_BINARY", again=True),
        program("kotlin-client", ["Clients/Kotlin/tests/run"], 60, 90, ["Clients/Kotlin", "Conformance", "Documentation/how-to/write-a-client.md"], again=True),
        Part("kotlin-views", ["Clients/Kotlin/tests/ui"], 40, 40, ["Clients/Kotlin"], after="kotlin-client", same=True, again=True),
        program("kotlin-newcomer", ["Clients/Kotlin/tests/newcomer"], None, 20, ["Clients/Kotlin"], after="kotlin-client"),
        Part("kotlin-gradle", ["Clients/Kotlin/tests/gradle.py"], 1, 1, ["Clients/Kotlin", "Documentation/tutorials"], after=None, same=True),
        # What clients, apps, programs and intermediaries send.
        program("public-clients", [PYTHON, "Tests/EndToEnd/PublicTrials/clients.py"], 15, 15,
                ["Tests/EndToEnd/PublicTrials", "Clients/JavaScript/source", "Documentation/reference/robots.md"], load=WAITS, same=True, again=True),
        # What origins answer.
        program("public-content", [PYTHON, "Tests/EndToEnd/PublicTrials/section1.py"], 15, 15,
                ["Tests/EndToEnd/PublicTrials", "Documentation/how-to/sync-json-api.md"], load=WAITS, same=True, again=True),
        program("public-siblings", [PYTHON, "Tests/EndToEnd/PublicTrials/siblings.py"], None, 60, ["Tests/EndToEnd/PublicTrials"], again=True),
        program("public-robots", [PYTHON, "Tests/EndToEnd/PublicTrials/robots.py"], None, 240, ["Tests/EndToEnd/PublicTrials"]),
        program("caches", ["Tests/EndToEnd/CacheTests/run"], 8, 8, ["Tests/EndToEnd/CacheTests", "Tests/EndToEnd/DescriptionTests/service.py"], load=WAITS, same=True, again=True),
        # The seed is constant, so that a failure can be reproduced. `make fuzz` has other seeds, and AddressSanitizer.
        Part("fuzzing", [f"{DEBUG}/ParserFuzz", "5s", "13"], 5, None, targets=["ParserFuzz"]),
        Part("fuzzing-longer", [f"{DEBUG}/ParserFuzz", "30s", "13"], None, 30, targets=["ParserFuzz"]),
        # Part of `make test-all` alone, unless their own files changed.
        program("buckets", [PYTHON, "Tests/EndToEnd/BucketTests/run"], None, 20, ["Tests/EndToEnd/BucketTests"], again=True),
        Part("address-build", [*address, "--product", "intertwinePackageTests"], None, 120, after="build", load=BUILDS,
             environment={"INTERTWINE_TESTS": "HTTPServerTests,FeedTests,FetchTests"}),
        suites("address-suites", None, 240, "--no-parallel", "--filter", r"^(HTTPServerTests|FeedTests|FetchTests)\.",
               bundle=".build-address/debug/intertwinePackageTests.xctest", targets=[], after="address-build", inputs=["Tests/leaks.suppressions"],
               environment={"LSAN_OPTIONS": f"suppressions={ROOT}/Tests/leaks.suppressions:print_suppressions=0", "TEST_ALL": None}),
        Part("release-build", [*release, "--product", "intertwine"], None, 330, load=BUILDS),
        Part("release-probe", [*release, "--product", "HTTPProbe"], None, 100, after="release-build", load=BUILDS),
        Part("allocations", [".build/release/HTTPProbe", "allocations"], None, 10, ["Tests/Tools/HTTPProbe"], after="release-probe"),
        Part("documentation", ["Tools/docs"], None, 60, ["Tools/docs", "Tools/doc-examples", "Tools/doc-examples.swift", "Tools/public-symbols"],
             environment={"PROGRAMS": DEBUG}),
        program("tutorials", ["Tests/EndToEnd/TutorialTests/run"], None, 60, ["Tests/EndToEnd/TutorialTests", "Documentation/tutorials", "Documentation/how-to", "README.md"]),
        program("embed", ["Tests/EndToEnd/TutorialTests/embed.py"], None, 40, ["Tests/EndToEnd/TutorialTests", "Documentation/tutorials/embed.md"]),
        Part("extensions", ["Tests/EndToEnd/TutorialTests/embed.py", "probe", f"{DEBUG}/ExtensionProbe"], None, 10,
             ["Tests/EndToEnd/TutorialTests", "Documentation/tutorials", "Documentation/how-to"], again=True),
        Part("swift-examples", [f"{CLIENT}/Tests/examples"], None, 10, [CLIENT, "Documentation/tutorials"], after="build-swift-client"),
        program("swift-package", ["Tests/EndToEnd/ClientPackageTests/run"], None, 60, ["Tests/EndToEnd/ClientPackageTests", f"{CLIENT}/README.md"]),
        program("monitoring", ["/usr/bin/python3", "Tests/EndToEnd/MonitoringTests/run"], None, 30,
                ["Tests/EndToEnd/MonitoringTests", "Deploy/monitoring", "Documentation/reference/metrics.md", "Documentation/how-to/runbook.md"]),
        Part("compose", [PYTHON, "Tests/EndToEnd/ContainerTests/compose.py"], None, 5, ["Tests/EndToEnd/ContainerTests", "Config", "Deploy", "Tools", "Dockerfile"]),
        Part("manifests", [PYTHON, "Tests/EndToEnd/ContainerTests/manifests.py"], None, 10, ["Tests/EndToEnd/ContainerTests", "Config", "Deploy", "Tools", "Dockerfile"]),
        Part("release", [PYTHON, "Tests/EndToEnd/ContainerTests/release.py", DEBUG], None, 40, ["Tests/EndToEnd/ContainerTests", "Config", "Deploy", "Tools", "Dockerfile", ".github"]),
        Part("site", ["Tools/site/make"], None, 60, ["Tools/site", "Documentation", "README.md", "Tests/EndToEnd/SiteTests"]),
        Part("site-pages", ["Tests/EndToEnd/SiteTests/run"], None, 200, ["Tools/site", "Documentation", "README.md", "Tests/EndToEnd/SiteTests"], after="site"),
    ]
