// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "IntertwineClient",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "IntertwineClient", targets: ["IntertwineClient"]),
        .executable(name: "feed-demo", targets: ["feed-demo"]),
    ],
    targets: [
        .target(name: "IntertwineClient"),
        .executableTarget(name: "feed-demo", dependencies: ["IntertwineClient"]),
        // Empty but where UIKit is.
        .target(name: "UIKitExample", dependencies: ["IntertwineClient"], path: "Examples/UIKitExample"),
        .testTarget(name: "IntertwineClientTests", dependencies: ["IntertwineClient"]),
    ],
    swiftLanguageModes: [.v6]
)
