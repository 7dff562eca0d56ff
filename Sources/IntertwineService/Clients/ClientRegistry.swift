internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Synchronization

/// The registered capabilities of clients by their digests.
///
/// Registrations are stored in the ledger's database, so they survive a restart and are shared by all processes with that database.
final class ClientRegistry: Sendable {
    /// The ledger; without one, registrations are in memory until the process ends.
    private let ledger: (any PersistentLedger)?
    private let known = Mutex(BoundedCache<String, ClientCapabilities>(limit: 2_000))

    init(_ ledger: (any PersistentLedger)?) {
        self.ledger = ledger
    }

    /// Returns the capabilities of a digest.
    ///
    /// - Throws: ``Problem`` (400) if the digest is not registered, `StoreError`.
    func capabilities(of digest: String) async throws -> ClientCapabilities {
        if let found = known.withLock({ $0[digest] }) { return found }
        guard let text = try await ledger?.capabilities(of: digest), let found = try? ClientCapabilities(text) else {
            throw Problem.unknownClient
        }
        known.withLock { $0[digest] = found }
        return found
    }

    /// Registers capabilities.
    ///
    /// - Returns: The digest of the capabilities.
    /// - Throws: `StoreError`.
    func register(_ name: String, _ capabilities: ClientCapabilities, now: Int64) async throws -> String {
        let digest = capabilities.digest
        try await ledger?.register(client: name, digest: digest, capabilities: capabilities.text, now: now)
        known.withLock { $0[digest] = capabilities }
        return digest
    }
}
