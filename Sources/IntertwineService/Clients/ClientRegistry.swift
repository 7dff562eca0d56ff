internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Synchronization

/// Registrations are stored in the ledger's database, so they survive a restart and are shared by all processes with that database.
final class ClientRegistry: Sendable {
    private let ledger: (any PersistentLedger)?
    private let known = Mutex(BoundedCache<String, ClientCapabilities>(limit: 2_000))
    private let used = Mutex(BoundedCache<String, Bool>(limit: 2_000))

    init(_ ledger: (any PersistentLedger)?) {
        self.ledger = ledger
    }

    func capabilities(of digest: String) async throws -> ClientCapabilities {
        if let found = known.withLock({ $0[digest] }) {
            recordUse(of: digest)
            return found
        }
        guard let text = try await ledger?.capabilities(of: digest), let found = try? ClientCapabilities(text) else {
            throw Problem.unknownClient
        }
        known.withLock { $0[digest] = found }
        recordUse(of: digest)
        return found
    }

    private func recordUse(of digest: String) {
        guard let ledger, used.withLock({ $0[digest] }) == nil else { return }
        used.withLock { $0[digest] = true }
        Task { try? await ledger.use(client: digest) }
    }

    func register(_ name: String, _ capabilities: ClientCapabilities, now: Int64) async throws -> String {
        let digest = capabilities.digest
        try await ledger?.register(client: name, digest: digest, capabilities: capabilities.text, now: now)
        known.withLock { $0[digest] = capabilities }
        return digest
    }
}
