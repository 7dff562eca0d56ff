import Glibc
import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

/// Transfers on a loop of their own, as the tests drive them.
struct Fetcher {
    let loop: EventLoop
    let transfers: CurlClient

    /// A listener that `http_proxy` points to, from before curl is first used: whatever reaches it is a failure.
    static let proxyTrap: Origin? = {
        let trap = try? Origin { _, connection in connection.answer(200, body: [1]) }
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            setenv(name, "http://127.0.0.1:\(trap?.port ?? 9)", 1)
        }
        return trap
    }()

    /// - Parameters:
    ///   - allowed: by default exactly the address that test origins listen on.
    ///   - lookup: a name server under the test's control.
    init(
        ports: Set<UInt16>, allowed: [String] = ["127.0.0.1/32"], certificates: String? = nil,
        lookup: @escaping Resolver.Lookup = { _ in .failure(.hostNotFound) }
    ) throws {
        _ = try #require(Self.proxyTrap)
        loop = try EventLoop(label: "fetch tests")
        let policy = AddressPolicy(allowedNetworks: allowed.compactMap(Network.init), allowedPorts: ports, ownAddresses: [])
        transfers = CurlClient(on: loop, policy: policy, resolver: Resolver(lookup: lookup), certificates: certificates)
    }

    /// Starts a fetch that the test follows while it is under way.
    func start(_ url: String, limits: FetchLimits = FetchLimits(), wants: @escaping @Sendable (FetchHead) -> Bool = { _ in true }) throws
        -> Fetched
    {
        let fetched = Fetched(wants: wants)
        fetched.begin(transfers.start(FetchRequest(try FetchURL(url), limits: limits)) { fetched.handle($0) })
        return fetched
    }

    /// Fetches to the end.
    func get(_ url: String, limits: FetchLimits = FetchLimits()) async throws -> Fetched {
        let fetched = try start(url, limits: limits)
        await fetched.ended()
        return fetched
    }

    func stop() async {
        await transfers.shutDown()
        loop.stop()
    }
}
