// swift-tools-version: 6.0
import PackageDescription

// Where UIKit is not, a stub of the names that the example uses stands in for it, so that the compiler sees the example there as well.
#if os(Linux)
    let stub: [Target] = [.target(name: "UIKit", path: "Tests/UIKitStub")]
#else
    let stub: [Target] = []
#endif

let package = Package(
    name: "IntertwineClient",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "IntertwineClient", targets: ["IntertwineClient"]),
        .executable(name: "feed-demo", targets: ["feed-demo"]),
    ],
    targets: stub + [
        .target(name: "IntertwineClient"),
        .executableTarget(name: "feed-demo", dependencies: ["IntertwineClient"]),
        .target(
            name: "UIKitExample", dependencies: ["IntertwineClient"] + stub.map { .byName(name: $0.name) }, path: "Examples/UIKitExample",
            exclude: ["README.md"]),
        .testTarget(name: "IntertwineClientTests", dependencies: ["IntertwineClient"]),
    ],
    swiftLanguageModes: [.v6]
)
