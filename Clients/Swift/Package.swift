// swift-tools-version: 6.0
import PackageDescription

// Without UIKit and SwiftUI, the examples are compiled against stubs of the names that they use.
#if os(Linux)
    let stubs: [Target] = [.target(name: "UIKit", path: "Tests/UIKitStub"), .target(name: "SwiftUI", path: "Tests/SwiftUIStub")]
#else
    let stubs: [Target] = []
#endif
let stub = { (name: String) in stubs.filter { $0.name == name }.map { Target.Dependency.byName(name: $0.name) } }

let package = Package(
    name: "IntertwineClient",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "IntertwineClient", targets: ["IntertwineClient"]),
        .executable(name: "feed-demo", targets: ["feed-demo"]),
    ],
    targets: stubs + [
        .target(name: "IntertwineClient"),
        .executableTarget(name: "feed-demo", dependencies: ["IntertwineClient"]),
        .target(
            name: "UIKitExample", dependencies: ["IntertwineClient"] + stub("UIKit"), path: "Examples/UIKitExample", exclude: ["README.md"]),
        .target(
            name: "SwiftUIExample", dependencies: ["IntertwineClient"] + stub("SwiftUI"), path: "Examples/SwiftUIExample",
            exclude: ["README.md"]),
        .testTarget(name: "IntertwineClientTests", dependencies: ["IntertwineClient"]),
    ],
    swiftLanguageModes: [.v6]
)
