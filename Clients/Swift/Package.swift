// swift-tools-version: 6.2
import PackageDescription

// The client with its tests and demo. An app in Xcode adds this folder of a clone; the repository's package has the same two products. Why a
// package of its own: it needs no build of the service, and on Linux it has stubs of UIKit and SwiftUI, against which the compiler checks
// views and the documentation's examples. In one package with the service, all of its modules would see the stubs.
#if os(Linux)
    let stubs: [Target] = [
        .target(name: "UIKit", path: "Tests/UIKitStub"), .target(name: "SwiftUI", dependencies: ["UIKit"], path: "Tests/SwiftUIStub"),
    ]
    let frameworks: [Target.Dependency] = ["SwiftUI", "UIKit"]
#else
    let stubs: [Target] = []
    let frameworks: [Target.Dependency] = []
#endif

let package = Package(
    name: "IntertwineClientTests",
    platforms: [.macOS(.v13), .iOS(.v16)],
    // A library has a scheme in Xcode.
    products: [
        .executable(name: "feed-demo", targets: ["feed-demo"]),
        .library(name: "IntertwineClient", targets: ["IntertwineClient"]),
        .library(name: "IntertwineUI", targets: ["IntertwineUI"]),
    ],
    targets: stubs + [
        .target(name: "IntertwineClient"),
        .target(name: "IntertwineUI", dependencies: ["IntertwineClient"] + frameworks),
        .executableTarget(name: "feed-demo", dependencies: ["IntertwineClient"]),
        .testTarget(name: "IntertwineClientTests", dependencies: ["IntertwineClient", "IntertwineUI"]),
    ]
)

for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}
