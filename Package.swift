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
            targets: [
                "IntertwineAds", "IntertwineCells", "IntertwineDeclarations", "IntertwineFeed", "IntertwineHTTPServer",
                "IntertwineIdentity", "IntertwineItems", "IntertwineJSON", "IntertwineKinds", "IntertwineLedger",
                "IntertwineObservability", "IntertwineOperators", "IntertwineService", "IntertwineSettings", "IntertwineStorage",
                "IntertwineStorageCore", "IntertwineSync", "IntertwineTrackers",
            ]),
        .library(name: "IntertwineTesting", targets: ["IntertwineTesting"]),
    ],
    traits: [
        .default(enabledTraits: ["Server", "PostgreSQL", "WebClient"]),
        .trait(name: "Server", description: "The service and its dependencies. Apps disable it: `traits: []`."),
        .trait(name: "PostgreSQL", description: "Stores in PostgreSQL databases. Links libpq."),
        .trait(name: "WebClient", description: "The web client and the operators' pages, about 600 kB."),
    ],
    dependencies: [
        // Why each dependency is here: Documentation/decisions/0001-dependencies.md.
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
        // Layer 6: the command line.
        .executableTarget(
            name: "intertwine",
            dependencies: [
                "IntertwineAds", "IntertwineCells", "IntertwineFeed", "IntertwineItems", "IntertwineLedger", "IntertwinePrimitives",
                "IntertwineSample", "IntertwineService", "IntertwineStorage", "IntertwineSync",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Decodes and encodes images in sandboxed processes. The service does not depend on it.
        .executableTarget(
            name: "intertwine-image-worker", dependencies: ["CImageSandbox", "CVips", "IntertwineImageWire"]),

        // The origin of the sample feed's images.
        .executableTarget(
            name: "sample-origin",
            dependencies: [
                "IntertwineHTTPServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
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

        // Layer 6: the service in the process of a test.
        .target(
            name: "IntertwineTesting",
            dependencies: [
                "IntertwineHTTPServer", "IntertwinePrimitives", "IntertwineService", "IntertwineStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Layer 5: the clients' routes, the configuration, and the composition of the lower layers.
        .target(
            name: "IntertwineService",
            dependencies: [
                "IntertwineAds", "IntertwineCells", "IntertwineCrypto", "IntertwineDeclarations", "IntertwineEventLoop", "IntertwineFeed",
                "IntertwineFetch",
                "IntertwineHTTPServer", "IntertwineIdentity", "IntertwineImages", "IntertwineItems", "IntertwineJSON", "IntertwineKinds",
                "IntertwineLedger", "IntertwineObservability", "IntertwineOperators", "IntertwinePrimitives", "IntertwineRouting",
                "IntertwineSample", "IntertwineSettings", "IntertwineStorage", "IntertwineStorageCore", "IntertwineSync",
                "IntertwineTrackers",
                .target(name: "IntertwinePostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .target(name: "IntertwineWebClient", condition: .when(traits: ["WebClient"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ]),

        // Layer 4
        .target(
            name: "IntertwineOperators",
            dependencies: [
                "CIntertwineLinux", "IntertwineAds", "IntertwineCrypto", "IntertwineDeclarations", "IntertwineFetch",
                "IntertwineHTTPServer",
                "IntertwineIdentity", "IntertwineImages", "IntertwineItems", "IntertwineJSON", "IntertwineLedger",
                "IntertwineObservability", "IntertwinePrimitives", "IntertwineRouting", "IntertwineStorage", "IntertwineSync",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // The settings as values. The service reads and checks them.
        .target(
            name: "IntertwineSettings",
            dependencies: ["IntertwineAds", "IntertwineCells", "IntertwineDeclarations", "IntertwineIdentity"]),

        // Layer 3
        .target(
            name: "IntertwineDeclarations",
            dependencies: [
                "IntertwineAds", "IntertwineCells", "IntertwineFetch", "IntertwineItems", "IntertwineJSON", "IntertwineKinds",
                "IntertwineLedger", "IntertwinePrimitives", "IntertwineStorage", "IntertwineSync",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Yams", package: "Yams"),
            ]),

        // Layer 2
        .target(
            name: "IntertwineObservability",
            dependencies: [
                "IntertwineFeed", "IntertwineHTTPServer", "IntertwinePrimitives",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The pages in the folder `files`, which are in the program.
        .target(
            name: "IntertwineWebClient",
            dependencies: [
                "CEmbeddedFiles", "IntertwineHTTPServer", "IntertwineRouting", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            exclude: ["files"]),
        .target(
            name: "IntertwineImages",
            dependencies: [
                "CIntertwineLinux", "IntertwineCrypto", "IntertwineEventLoop", "IntertwineFetch", "IntertwineImageWire",
                "IntertwinePrimitives",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "IntertwinePostgreSQL",
            dependencies: [
                "CPostgreSQL", "IntertwineAds", "IntertwineItems", "IntertwineLedger", "IntertwinePrimitives", "IntertwineStorageCore",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "IntertwineSync",
            dependencies: [
                "IntertwineCrypto", "IntertwineEventLoop", "IntertwineFetch", "IntertwineItems", "IntertwineJSON", "IntertwinePrimitives",
                "IntertwineStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),

        .target(
            name: "IntertwineTrackers",
            dependencies: [
                "IntertwineAds", "IntertwineEventLoop", "IntertwineFetch", "IntertwineLedger",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),

        // Layer 1
        .target(
            name: "IntertwineHTTPServer",
            dependencies: [
                "CIntertwineDeflate", "CIntertwineZlib", "CIntertwineLinux", "IntertwineEventLoop", "IntertwinePrimitives",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "IntertwineRouting",
            dependencies: [
                "IntertwineCrypto", "IntertwineHTTPServer", "IntertwinePrimitives",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "IntertwineFetch",
            dependencies: [
                "CIntertwineCurl", "CIntertwineLinux", "IntertwineEventLoop", "IntertwinePrimitives",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // The code that both stores share, without a database.
        .target(
            name: "IntertwineStorageCore",
            dependencies: [
                "CIntertwineLinux", "CIntertwineZlib", "IntertwineAds", "IntertwineCrypto", "IntertwineItems", "IntertwineLedger",
                "IntertwinePrimitives",
            ]),
        // Identity of the sender of a request: trusted proxies and verified tokens.
        .target(
            name: "IntertwineIdentity",
            dependencies: [
                "IntertwineCrypto", "IntertwineFetch", "IntertwineJSON", "IntertwinePrimitives",
            ]),
        .target(
            name: "IntertwineStorage",
            dependencies: [
                "CIntertwineLinux", "IntertwineAds", "IntertwineItems", "IntertwineLedger", "IntertwinePrimitives",
                "IntertwineStorageCore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),

        // Layer 0: primitives, without Foundation.
        // Declarations of these three are public, because the compiler inlines and specializes only public functions in other modules.
        .target(name: "IntertwinePrimitives", dependencies: ["CIntertwineLinux", "CIntertwineZlib"]),
        .target(name: "IntertwineEventLoop", dependencies: ["CIntertwineLinux"]),
        // Digests, codes and signatures by libcrypto. Separate from the primitives, because the HTTP server needs none.
        .target(name: "IntertwineCrypto", dependencies: ["CIntertwineCrypto"]),
        .target(name: "IntertwineImageWire"),

        // The product logic, from the lowest module up, without sockets, files and databases.
        .target(name: "IntertwineJSON", dependencies: ["IntertwinePrimitives"]),
        // Items, their kinds and fields, their import, and the protocol of the store that holds them.
        .target(name: "IntertwineItems", dependencies: ["IntertwineJSON", "IntertwinePrimitives"]),
        // Events, the rules by which they count, reports, and the tokens that prove an impression.
        .target(
            name: "IntertwineLedger",
            dependencies: [
                "IntertwineCrypto", "IntertwineItems", "IntertwinePrimitives",
            ]),
        // The pattern: cell view models, commands by key, factories. Start to read here.
        .target(
            name: "IntertwineCells",
            dependencies: [
                "IntertwineCrypto", "IntertwineItems", "IntertwineJSON", "IntertwineLedger", "IntertwinePrimitives",
            ]),
        // Kinds that are declared in YAML instead of Swift.
        .target(
            name: "IntertwineKinds",
            dependencies: [
                "IntertwineCells", "IntertwineItems", "IntertwineLedger", "IntertwinePrimitives",
                .product(name: "Mustache", package: "swift-mustache"),
            ]),
        // Campaigns, ad placements and trackers.
        .target(
            name: "IntertwineAds",
            dependencies: [
                "IntertwineCells", "IntertwineCrypto", "IntertwineItems", "IntertwineJSON", "IntertwineLedger", "IntertwinePrimitives",
            ]),
        // Data sources, assembly and rendering of pages, their changes, and the performance of actions.
        .target(
            name: "IntertwineFeed",
            dependencies: [
                "IntertwineAds", "IntertwineCells", "IntertwineCrypto", "IntertwineItems", "IntertwineJSON", "IntertwineLedger",
                "IntertwinePrimitives",
                .product(name: "Logging", package: "swift-log"),
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
            name: "TestSupport", dependencies: ["CIntertwineCrypto", "CIntertwineLinux", "CIntertwineZlib"], path: "Tests/TestSupport"),
        .target(name: "CAllocationCount", path: "Tests/CAllocationCount"),
        // A server or the service in a separate process with a counting allocator.
        .executableTarget(
            name: "HTTPProbe",
            dependencies: [
                "CAllocationCount", "IntertwineHTTPServer", "IntertwineService", "IntertwineStorage", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"), .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/HTTPProbe"),
        // A program with the extensions of the articles, in the imports of an embedding program.
        .executableTarget(
            name: "ExtensionProbe", dependencies: ["IntertwineLedger", "IntertwineService"], path: "Tests/ExtensionProbe"),
        // Sends mutated inputs into the parsers, with AddressSanitizer.
        .executableTarget(
            name: "ParserFuzz",
            dependencies: [
                "IntertwineFetch", "IntertwineHTTPServer", "IntertwineImageWire", "IntertwineImages", "IntertwineItems", "IntertwineJSON",
                "TestSupport",
            ],
            path: "Tests/ParserFuzz"),
        // Prints the time of looking up a bearer token.
        .executableTarget(
            name: "TokenProbe",
            dependencies: ["IntertwineCrypto", "IntertwineIdentity", "IntertwinePrimitives"],
            path: "Tests/TokenProbe"),
        .testTarget(
            name: "PrimitivesTests",
            dependencies: ["IntertwineCrypto", "IntertwinePrimitives", "TestSupport"]),
        .testTarget(name: "EventLoopTests", dependencies: ["IntertwineEventLoop", "TestSupport"]),
        .testTarget(
            name: "IdentityTests",
            dependencies: [
                "IntertwineCrypto", "IntertwineFetch", "IntertwineIdentity", "IntertwinePrimitives", "TestSupport",
            ]),
        .testTarget(
            name: "FeedTests",
            dependencies: [
                "IntertwineAds", "IntertwineCells", "IntertwineFeed", "IntertwineItems", "IntertwineJSON",
                "IntertwineKinds", "IntertwineLedger", "IntertwinePrimitives", "TestSupport",
            ]),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "IntertwineEventLoop", "IntertwineHTTPServer", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "FetchTests",
            dependencies: [
                "IntertwineEventLoop", "IntertwineFetch", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        // The image manager in a separate process, which tests kill or measure.
        .executableTarget(
            name: "CacheFiller", dependencies: ["IntertwineEventLoop", "IntertwineFetch", "IntertwineImages", "TestSupport"],
            path: "Tests/CacheFiller"),
        .testTarget(
            name: "ImagesTests",
            dependencies: [
                "CacheFiller", "IntertwineEventLoop", "IntertwineFetch", "IntertwineImages", "IntertwinePrimitives", "TestSupport",
                "intertwine-image-worker", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // A process that the storage tests kill.
        .executableTarget(
            name: "StorageVictim", dependencies: ["IntertwineItems", "IntertwineLedger", "IntertwineStorage"], path: "Tests/StorageVictim"),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "IntertwineAds", "IntertwineCells", "IntertwineFeed", "IntertwineItems", "IntertwineLedger",
                "IntertwinePostgreSQL", "IntertwineStorage", "IntertwineStorageCore", "StorageVictim", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: [
                "IntertwineItems", "IntertwineLedger", "IntertwinePostgreSQL", "IntertwineStorage", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "RoutingTests",
            dependencies: [
                "IntertwineHTTPServer", "IntertwineRouting", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "IntertwineEventLoop", "IntertwineFetch", "IntertwineItems", "IntertwineJSON", "IntertwineStorage", "IntertwineSync",
                "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "ExtensionProbe", "HTTPProbe", "IntertwineAds", "IntertwineCells", "IntertwineDeclarations", "IntertwineFeed",
                "IntertwineFetch",
                "IntertwineHTTPServer",
                "IntertwineImages", "IntertwineItems", "IntertwineJSON", "IntertwineKinds", "IntertwineLedger", "IntertwineObservability",
                "IntertwineOperators", "IntertwineRouting", "IntertwineService", "IntertwineSettings", "IntertwineStorage",
                "IntertwineSync", "IntertwineTesting", "TestSupport",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "IntertwineCrypto", "TestSupport", "intertwine", "intertwine-image-worker", "news-feed", "recipe-feed", "sample-origin",
            ]),
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

// lld links faster, and Full RELRO makes the tables of the dynamic linker read-only once a program has started. Only for programs, because the package
// manager refuses unsafe flags in libraries of other packages.
for target in package.targets where target.type == .executable || target.isTest {
    let hardening = ["intertwine", "intertwine-image-worker"].contains(target.name) ? ["-Xlinker", "-znow"] : []
    target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-use-ld=lld"] + hardening)]
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
