// swift-tools-version: 6.2
import PackageDescription

// The peers that Intertwine is measured against, in a package of their own: users of the service never resolve them.
let package = Package(
    name: "Benchmarks",
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    ],
    targets: [
        .executableTarget(
            name: "HummingbirdPeer",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]),
        .executableTarget(name: "FlyingFoxPeer", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")]),
    ]
)
