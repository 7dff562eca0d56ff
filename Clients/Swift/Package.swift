// swift-tools-version: 6.0
import PackageDescription

// Without UIKit, the example is compiled against a stub of the UIKit names that it uses.
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
