// swift-tools-version: 6.2
import PackageDescription

// The tests, examples and demo of the client, whose products are in the package of the repository. Why a package of its own: it resolves and builds
// the client as an app does, without the service's dependencies. On Linux it also has modules that stand for UIKit and SwiftUI, against
// which views and examples are compiled; beside the service, every module would see them.
#if os(Linux)
    let stubs: [Target] = [.target(name: "UIKit", path: "Tests/UIKitStub"), .target(name: "SwiftUI", path: "Tests/SwiftUIStub")]
    let (uiKit, swiftUI): ([Target.Dependency], [Target.Dependency]) = (["UIKit"], ["SwiftUI"])
#else
    let stubs: [Target] = []
    let (uiKit, swiftUI): ([Target.Dependency], [Target.Dependency]) = ([], [])
#endif
let client: Target.Dependency = .product(name: "IntertwineClient", package: "intertwine")

let package = Package(
    name: "IntertwineClientTests",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.executable(name: "feed-demo", targets: ["feed-demo"])],
    dependencies: [.package(name: "intertwine", path: "../..", traits: [])],
    targets: stubs + [
        .executableTarget(name: "feed-demo", dependencies: [client]),
        .target(name: "UIKitExample", dependencies: [client] + uiKit, path: "Examples/UIKitExample", exclude: ["README.md"]),
        .target(name: "SwiftUIExample", dependencies: [client] + swiftUI, path: "Examples/SwiftUIExample", exclude: ["README.md"]),
        .testTarget(name: "IntertwineClientTests", dependencies: [client]),
    ],
    swiftLanguageModes: [.v6]
)
