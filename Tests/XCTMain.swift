import Testing

// With a `main` of its own the test bundle needs no list of XCTest cases, which the package manager would read from an index of all sources.
// The index takes a fifth of a clean build. The function is the one that the package manager's own `main` calls.
@main
struct TestMain {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
