internal import Crypto
internal import IntertwinePrimitives

/// A call of a tracker, as the ledger keeps it until it was answered.
package struct TrackerCall: Sendable, Hashable {
    /// Numbers it within the ledger; 0 for one that is not there yet.
    package var id: Int64 = 0
    /// The event's marker.
    package var event: Int64
    package var campaign: String
    package var kind: LedgerEvent.Kind
    package var url: String
    /// When the event was, in milliseconds since 1970-01-01 UTC, as is what follows.
    package var at: Int64
    package var due: Int64
    /// How often it was tried.
    package var attempts = 0
    /// Why the last attempt failed.
    package var failure: String?
    package var abandonedAt: Int64?

    package init(event: Int64, campaign: String, kind: LedgerEvent.Kind, url: String, at: Int64, due: Int64) {
        (self.event, self.campaign, self.kind, self.url, self.at, self.due) = (event, campaign, kind, url, at, due)
    }
}

/// Makes calls of events.
package struct TrackerCalls: Sendable {
    private let key: SymmetricKey

    package init(keys: SigningKeys) {
        key = keys.current.derived(for: SigningPurpose(rawValue: "tracker"))
    }

    package static func isTracked(_ event: LedgerEvent) -> Bool {
        event.verdict == .counted && event.creative != nil && (event.kind == .impression || event.kind == .click)
    }

    package func calls(of recorded: RecordedEvent, _ trackers: Trackers) -> [TrackerCall] {
        let event = recorded.event
        let templates = event.kind == .click ? trackers.click : trackers.impression
        guard !templates.isEmpty else { return [] }
        let values = [
            "event": String(recorded.sequence), "viewer": event.viewer.map(hash) ?? "", "time": Timestamp.exactText(milliseconds: event.at),
            "campaign": event.showing?.campaign ?? "", "ad": event.cell,
        ]
        return templates.map {
            TrackerCall(
                event: recorded.sequence, campaign: event.showing?.campaign ?? "", kind: event.kind, url: $0.filled(values), at: event.at,
                due: event.at)
        }
    }

    /// The same viewer has the same as long as the signing key stays; nobody without the key can find the viewer by it.
    private func hash(_ viewer: String) -> String {
        Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Array(viewer.utf8), using: key).prefix(16).map { $0 })
    }
}
