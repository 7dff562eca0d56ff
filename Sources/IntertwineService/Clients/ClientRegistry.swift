internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineRouting
internal import IntertwineStorage
internal import Synchronization

/// What clients can show, by the digest that they were given for it: kept in the ledger's file, so that it holds after a restart and for every
/// process on the same files.
final class ClientRegistry: Sendable {
    /// Digests that are remembered besides; when there are more, all are forgotten and read again.
    private static let capacity = 1_000

    /// Nil where a program brought a ledger of its own: names are then kept for as long as the process.
    private let ledger: (any PersistentLedger)?
    private let known = Mutex<[String: ClientCapabilities]>([:])

    init(_ ledger: (any PersistentLedger)?) {
        self.ledger = ledger
    }

    /// - Throws: ``Problem`` (400) where nobody registered it, `StoreError`.
    func capabilities(of digest: String) async throws -> ClientCapabilities {
        if let found = known.withLock({ $0[digest] }) { return found }
        guard let text = try await ledger?.capabilities(of: digest), let found = try? ClientCapabilities(text) else {
            throw Problem(.badRequest, .unknownClient, "client is not the digest of a registered client: register it again.")
        }
        remember(found, digest)
        return found
    }

    /// - Returns: the digest that stands for the capabilities.
    /// - Throws: `StoreError`.
    func register(_ name: String, _ capabilities: ClientCapabilities, now: Int64) async throws -> String {
        let digest = capabilities.digest
        try await ledger?.register(client: name, digest: digest, capabilities: capabilities.text, now: now)
        remember(capabilities, digest)
        return digest
    }

    private func remember(_ capabilities: ClientCapabilities, _ digest: String) {
        known.withLock { known in
            if known.count >= Self.capacity { known = [:] }
            known[digest] = capabilities
        }
    }
}
