import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

/// A manager with all that it stands on, and a clock under the test's control.
final class House: Sendable {
    let loop: EventLoop
    let transfers: CurlClient
    let manager: ImageNetworkManager
    private let seconds: Shared

    final class Shared: Sendable {
        let now = Atomic<Int64>(1_800_000_000)
    }

    init(
        _ origins: [Origin], folder: String? = nil, adjust: (inout ImageConfiguration) -> Void = { _ in },
        lookup: @escaping Resolver.Lookup = { _ in .failure(.hostNotFound) }
    ) throws {
        loop = try EventLoop(label: "images tests")
        let policy = AddressPolicy(
            allowedNetworks: ["127.0.0.1/32"].compactMap(Network.init), allowedPorts: Set(origins.map(\.port)), ownAddresses: [])
        transfers = CurlClient(on: loop, policy: policy, resolver: Resolver(lookup: lookup), userAgent: "test")
        let seconds = Shared()
        self.seconds = seconds
        var configuration = ImageConfiguration()
        configuration.folder = folder
        configuration.clock = { seconds.now.load(ordering: .relaxed) }
        configuration.limits.head = .seconds(30)
        configuration.limits.total = .seconds(40)
        configuration.limits.slowSeconds = 30
        adjust(&configuration)
        manager = ImageNetworkManager(configuration, transfers: transfers)
    }

    /// Moves the wall clock, which decides about freshness.
    func pass(_ seconds: Int64) { self.seconds.now.add(seconds, ordering: .relaxed) }

    /// - Parameter accept: the client's `Accept` field.
    func get(_ source: String, accept: String? = nil) async throws -> Got {
        try await Got(manager.image(ImageRequest(source, accept: accept)))
    }

    /// Returns when everything that was asked of the loop so far is done.
    func settle() async { _ = await manager.metrics() }

    func stop() async {
        await manager.shutDown()
        await transfers.shutDown()
        loop.stop()
    }
}

/// An answer with its body read to the end.
struct Got: Sendable {
    let status: Int
    let headers: [String: String]
    var body: [UInt8] = []
    let outcome: CacheStatus
    var failure: ImageError?

    init(_ answer: ImageResponse) async throws {
        status = answer.status
        headers = Dictionary(answer.headers.map { ($0.name.rawName, $0.value) }) { $0 + ", " + $1 }
        outcome = answer.cacheStatus
        switch answer.body {
        case .complete(let image): body = image.body.bytes
        case .failure(let failure): self.failure = failure
        case .stream(let stream, _):
            do throws(ImageError) {
                for try await chunk in stream { body += chunk }
            } catch {
                failure = error
            }
        }
    }
}

extension HTTPFields {
    /// Fields by names that a test knows to be tokens.
    init(_ fields: KeyValuePairs<String, String>) {
        self.init()
        for (name, value) in fields { if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) } }
    }
}
