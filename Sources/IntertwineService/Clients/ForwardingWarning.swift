internal import Logging
internal import Synchronization

/// Warns once if a peer that is no trusted proxy sends `X-Forwarded-For`. Why: then all clients of a proxy share one address.
final class ForwardingWarning: Sendable {
    private let isNoted = Atomic(false)
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func note(_ peer: String) {
        guard !isNoted.load(ordering: .relaxed), !isNoted.exchange(true, ordering: .relaxed) else { return }
        logger.warning(
            "X-Forwarded-For of a peer that is not in server.trusted-proxies is ignored; further ones are not logged",
            metadata: ["network": "\(AddressPrivacy.bytes(of: peer).map(AddressPrivacy.truncated) ?? peer)"])
    }
}
