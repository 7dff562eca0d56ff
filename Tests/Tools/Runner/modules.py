"""The parts that test one module: the suites of the test targets that name it among their dependencies."""
import sys

from parts import CLIENT, Part, suites, target
from stamps import manifest

# They run the whole service, for minutes. Of these, the command line's own.
OUTSIDE = "EndToEndTests"


def targets_of(module):
    """The test targets that depend on a module directly, or else those of the nearest modules that do."""
    targets, level, seen = manifest(), {module}, set()
    if module not in targets:
        sys.exit(f"Package.swift has no target {module}; it has {', '.join(sorted(targets))}")
    if targets[module][2] == "test":
        return [module]
    while level:
        dependents = {name for name, (_, dependencies, _) in targets.items() if level & set(dependencies)}
        tests = {name for name in dependents if targets[name][2] == "test"}
        if tests:
            return sorted(tests - {OUTSIDE}) or [OUTSIDE]
        seen |= level
        level = dependents - seen
    sys.exit(f"no test target depends on {module}")


def parts(module, build):
    if module in ("IntertwineClient", "IntertwineUI"):
        bundle = f"{CLIENT}/.build/debug/IntertwineClientTestsPackageTests.xctest"
        return [Part("build", [*build, "--product", "intertwine"], 240, 240, after=None),
                Part("build-swift-client", [*build, "--package-path", CLIENT, "--build-tests"], 120, 120),
                suites("swift-client", 80, 80, "--no-parallel", bundle=bundle, targets=[], after="build-swift-client",
                       environment={"INTERTWINE_BINARY": ".build/debug/intertwine"})]
    if module == "IntertwineWebClient":
        return [Part("build", [*build, "--product", "intertwine"], 240, 240, after=None),
                Part("web-client", ["Tests/EndToEnd/WebClientTests/run"], 100, 300, environment={"WEB_CLIENT_TESTS_BINARY": ".build/debug/intertwine"})]
    names = targets_of(module)
    narrow = module != OUTSIDE and names == [OUTSIDE]
    # The package description leaves out all other test targets, so that they are not compiled.
    environment = {"INTERTWINE_TESTS": ",".join(names)}
    tested = [suites(OUTSIDE, 120, 200, "--no-parallel", "--filter", r"^EndToEndTests\.(CommandLineTests|StartTests)/", targets=[])] if narrow else [
        target(name, 120, 200, parallel=name in ("FeedTests", "RoutingTests", "PrimitivesTests")) for name in names]
    return [Part("build", [*build, "--product", "intertwinePackageTests"], 240, 240, after=None, environment=environment), *tested]
