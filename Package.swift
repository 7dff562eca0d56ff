// swift-tools-version: 6.2
import Foundation
import PackageDescription

let package = Package(
    name: "intertwine",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "IntertwineClient", targets: ["IntertwineClient"]),
        .library(name: "IntertwineUI", targets: ["IntertwineUI"]),
        .executable(name: "intertwine", targets: ["intertwine"]),
        .executable(name: "intertwine-image-worker", targets: ["intertwine-image-worker"]),
        .library(
            name: "IntertwineService",
            targets: ["IntertwineFeed", "IntertwineHTTPServer", "IntertwineService"]),
        .library(name: "IntertwineTesting", targets: ["IntertwineTesting"]),
    ],
    traits: [
        // No second trait: the package manager passes their flags in another order each time, and then compiles everything.
        .default(enabledTraits: ["Server"]),
        .trait(name: "Server", description: "The service and its dependencies. Apps disable it: `traits: []`."),
    ],
    dependencies: [
        // Why each dependency is here: Documentation/maintainers/decisions/0001-dependencies.md.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The command line.
        .executableTarget(
            name: "intertwine",
            dependencies: [
                "IntertwineFeed", "IntertwinePrimitives", "IntertwineSample", "IntertwineService", "IntertwineStorage",
                .product(name: "ArgumentParser", package: "swift-argument-parser"), .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Decodes and encodes images in sandboxed processes. The service does not depend on it.
        .executableTarget(
            name: "intertwine-image-worker", dependencies: ["CImageSandbox", "CVips", "IntertwineImageWire"]),

        // The origin of the sample feed's images.
        .executableTarget(
            name: "sample-origin",
            dependencies: [
                "IntertwineHTTPServer", .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),

        // A program that embeds the service, with a kind of item, a cell and a command of its own.
        .executableTarget(
            name: "recipe-feed",
            dependencies: ["IntertwineService", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Examples/RecipeFeed"),

        // A feed with sections over an HTTP API.
        .executableTarget(
            name: "news-feed",
            dependencies: ["IntertwineService", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Examples/NewsFeed"),

        // The service in the process of a test.
        .target(
            name: "IntertwineTesting",
            dependencies: [
                "IntertwineHTTPServer", "IntertwinePrimitives", "IntertwineService", "IntertwineStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
            ]),

        // The routes, the configuration, and the composition of the modules below.
        .target(
            name: "IntertwineService",
            dependencies: [
                "CEmbeddedFiles", "CIntertwineLinux", "IntertwineFeed", "IntertwineHTTPServer", "IntertwineImages", "IntertwinePostgreSQL",
                "IntertwinePrimitives", "IntertwineSample", "IntertwineStorage", "IntertwineStorageCore",
                .product(name: "CoreMetrics", package: "swift-metrics"), .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"), .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"), .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["WebClient/files"]),

        // Outbound HTTP, and the image manager.
        .target(
            name: "IntertwineImages",
            dependencies: [
                "CIntertwineCurl", "CIntertwineLinux", "IntertwineHTTPServer", "IntertwineImageWire", "IntertwinePrimitives",
                .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
            ]),
        // Both kinds of stores, and the code that they share, which needs no database.
        .target(
            name: "IntertwinePostgreSQL",
            dependencies: [
                "CPostgreSQL", "IntertwineFeed", "IntertwinePrimitives", "IntertwineStorageCore",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "IntertwineStorageCore",
            dependencies: ["CIntertwineLinux", "CIntertwineZlib", "IntertwineFeed", "IntertwinePrimitives"]),
        .target(
            name: "IntertwineStorage",
            dependencies: [
                "CIntertwineLinux", "IntertwineFeed", "IntertwinePrimitives", "IntertwineStorageCore",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // The HTTP server, its event loops and the routes of services.
        .target(
            name: "IntertwineHTTPServer",
            dependencies: [
                "CIntertwineDeflate", "CIntertwineLinux", "CIntertwineZlib", "IntertwinePrimitives",
                .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
            ]),

        // Values, JSON, and cryptography by libcrypto. Declarations of hot paths are public and inlinable, because the compiler specializes only such
        // functions in other modules.
        .target(name: "IntertwinePrimitives", dependencies: ["CIntertwineCrypto", "CIntertwineLinux", "CIntertwineZlib"]),
        // The protocol between the service and its image workers.
        .target(name: "IntertwineImageWire"),

        // The product logic, without sockets, files and databases: items, events, cells and their commands, kinds, ads, data sources and the assembly of
        // pages. Start to read in the folder Cells.
        .target(
            name: "IntertwineFeed",
            dependencies: [
                "IntertwinePrimitives", .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
            ]),
        // The items and pictures of the sample feed, in the folder `files`, which are in the program.
        .target(
            name: "IntertwineSample", dependencies: ["CEmbeddedFiles"], exclude: ["files", "make-feed", "make-images", "make-media"]),

        // C
        .target(name: "CIntertwineLinux"),
        .target(name: "CEmbeddedFiles", exclude: ["file.inc"]),
        .systemLibrary(
            name: "CIntertwineCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CIntertwineCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "CImageSandbox"),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        // The flags of libvips have -pthread, about which the package manager warns. The flags of the headers that it includes suffice.
        .systemLibrary(name: "CVips", pkgConfig: "gobject-2.0", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(name: "CIntertwineDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(name: "CIntertwineZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        // The client for apps. Its tests and examples are a package of their own, in Clients/Swift.
        .target(name: "IntertwineClient", path: "Clients/Swift/Sources/IntertwineClient"),
        .target(name: "IntertwineUI", dependencies: ["IntertwineClient"], path: "Clients/Swift/Sources/IntertwineUI"),

        // Tests
        .target(
            name: "TestSupport", dependencies: ["CIntertwineCrypto", "CIntertwineLinux", "CIntertwineZlib"], path: "Tests/Tools/TestSupport"
        ),
        .target(name: "CAllocationCount", path: "Tests/Tools/CAllocationCount"),
        // A server or the service in a separate process with a counting allocator.
        .executableTarget(
            name: "HTTPProbe",
            dependencies: [
                "CAllocationCount", "IntertwineHTTPServer", "IntertwineService", "IntertwineStorage", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Tools/HTTPProbe"),
        // A program with the extensions of the articles, in the imports of an embedding program.
        .executableTarget(
            name: "ExtensionProbe", dependencies: ["IntertwineFeed", "IntertwineService"], path: "Tests/Tools/ExtensionProbe"),
        // Sends mutated inputs into the parsers, with AddressSanitizer.
        .executableTarget(
            name: "ParserFuzz",
            dependencies: [
                "IntertwineFeed", "IntertwineHTTPServer", "IntertwineImageWire", "IntertwineImages", "IntertwinePrimitives", "TestSupport",
            ],
            path: "Tests/Tools/ParserFuzz"),
        // Prints the time of looking up a bearer token.
        .executableTarget(
            name: "TokenProbe",
            dependencies: ["IntertwinePrimitives", "IntertwineService"],
            path: "Tests/Tools/TokenProbe"),
        .testTarget(
            name: "PrimitivesTests",
            dependencies: ["IntertwinePrimitives", "TestSupport"], path: "Tests/Unit/PrimitivesTests"),
        .testTarget(name: "EventLoopTests", dependencies: ["IntertwineHTTPServer", "TestSupport"], path: "Tests/Unit/EventLoopTests"),
        .testTarget(
            name: "IdentityTests",
            dependencies: ["IntertwineImages", "IntertwinePrimitives", "IntertwineService", "TestSupport"], path: "Tests/Unit/IdentityTests"
        ),
        .testTarget(
            name: "FeedTests",
            dependencies: ["IntertwineFeed", "IntertwinePrimitives", "TestSupport"], path: "Tests/Unit/FeedTests"),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: ["IntertwineHTTPServer", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types")],
            path: "Tests/Unit/HTTPServerTests"),
        .testTarget(
            name: "FetchTests",
            dependencies: [
                "IntertwineHTTPServer", "IntertwineImages", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"),
            ], path: "Tests/Unit/FetchTests"),
        // The image manager in a separate process, which tests kill or measure.
        .executableTarget(
            name: "CacheFiller", dependencies: ["IntertwineHTTPServer", "IntertwineImages", "TestSupport"],
            path: "Tests/Tools/CacheFiller"),
        .testTarget(
            name: "ImagesTests",
            dependencies: [
                "CacheFiller", "IntertwineHTTPServer", "IntertwineImages", "IntertwinePrimitives", "TestSupport", "intertwine-image-worker",
                .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/Unit/ImagesTests"),
        // A process that the storage tests kill.
        .executableTarget(
            name: "StorageVictim", dependencies: ["IntertwineFeed", "IntertwineStorage"], path: "Tests/Tools/StorageVictim"),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "IntertwineFeed", "IntertwinePostgreSQL", "IntertwineStorage", "IntertwineStorageCore", "StorageVictim", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"), .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/Unit/StorageTests"),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: [
                "IntertwineFeed", "IntertwinePostgreSQL", "IntertwineStorage", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/Unit/PostgreSQLTests"),
        .testTarget(
            name: "RoutingTests",
            dependencies: [
                "IntertwineHTTPServer", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ], path: "Tests/Unit/RoutingTests"),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "IntertwineFeed", "IntertwineHTTPServer", "IntertwineImages", "IntertwinePrimitives", "IntertwineService",
                "IntertwineStorage", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"),
            ], path: "Tests/Unit/SyncTests"),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "ExtensionProbe", "HTTPProbe", "IntertwineFeed", "IntertwineHTTPServer", "IntertwineImages", "IntertwinePrimitives",
                "IntertwineService", "IntertwineStorage", "IntertwineTesting", "TestSupport",
                .product(name: "CoreMetrics", package: "swift-metrics"), .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"), .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Tests/Unit/ServiceTests"),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "IntertwinePrimitives", "TestSupport", "intertwine", "intertwine-image-worker", "news-feed", "recipe-feed", "sample-origin",
            ], path: "Tests/EndToEnd/EndToEndTests"),
    ]
)

// One loop for the settings of all Swift targets.
let inC = ["CAllocationCount", "CEmbeddedFiles", "CIntertwineLinux", "CImageSandbox"]
for target in package.targets where target.type != .system && !inC.contains(target.name) {
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        // Checks for the repository. A later compiler or SDK with another result must not break an app.
        .enableUpcomingFeature("MemberImportVisibility", .when(traits: ["Server"])),
        .treatAllWarnings(as: .error, .when(traits: ["Server"])),
    ]
}

// Only enabled traits have dependencies. An app with the client resolves none.
for target in package.targets {
    target.dependencies = target.dependencies.map { dependency in
        guard case .productItem(let name, let package?, _, _) = dependency else { return dependency }
        return .product(name: name, package: package, condition: .when(traits: ["Server"]))
    }
}

// lld links faster, and Full RELRO makes the tables of the dynamic linker read-only once a program has started. Relative relocations are a bit
// each, not 24 bytes; Debian 12 reads them. Only for programs, because the package manager refuses unsafe flags in libraries of other packages.
for target in package.targets where target.type == .executable || target.isTest {
    let isProduct = ["intertwine", "intertwine-image-worker"].contains(target.name)
    let options = isProduct ? ["-Xlinker", "-znow", "-Xlinker", "-zpack-relative-relocs"] : []
    target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-use-ld=lld"] + options)]
}

// The container image is built without tests, examples and the client for apps.
package.targets.removeAll { target in
    guard let path = target.path ?? (target.isTest ? "Tests/\(target.name)" : nil) else { return false }
    return !FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/\(path)")
}
package.products.removeAll { product in
    guard let library = product as? Product.Library else { return false }
    return !library.targets.allSatisfy { name in package.targets.contains { $0.name == name } }
}

// `make test-module` builds the tests that it runs, and no others.
if let names = Context.environment["INTERTWINE_TESTS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.isTest && !names.contains($0.name) }
}

// It builds the dependencies in a layer of their own, before there are sources, with an empty target that names them all.
if Context.environment["INTERTWINE_DEPENDENCIES_ALONE"] != nil {
    var products: [String: Target.Dependency] = [:]
    for case .productItem(let name, let package?, _, _) in package.targets.flatMap(\.dependencies) {
        products[name] = .product(name: name, package: package)
    }
    package.products = []
    package.targets = [.target(name: "Dependencies", dependencies: products.sorted { $0.key < $1.key }.map(\.value))]
}
