// swift-tools-version: 6.0
import PackageDescription

// Without UIKit and SwiftUI, the examples are compiled against stubs of the names that they use.
#if os(Linux)
    let stubs: [Target] = [.target(name: "UIKit", path: "Tests/UIKitStub"), .target(name: "SwiftUI", path: "Tests/SwiftUIStub")]
    let (uiKit, swiftUI): ([Target.Dependency], [Target.Dependency]) = (["UIKit"], ["SwiftUI"])
#else
    let stubs: [Target] = []
    let (uiKit, swiftUI): ([Target.Dependency], [Target.Dependency]) = ([], [])
#endif

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
            name: "UIKitExample", dependencies: ["IntertwineClient"] + uiKit, path: "Examples/UIKitExample", exclude: ["README.md"]),
        .target(
            name: "SwiftUIExample", dependencies: ["IntertwineClient"] + swiftUI, path: "Examples/SwiftUIExample",
            exclude: ["README.md"]),
        .testTarget(name: "IntertwineClientTests", dependencies: ["IntertwineClient"]),
    ],
    swiftLanguageModes: [.v6]
)
