internal import IntertwinePrimitives

package struct TrackerCall: Sendable, Hashable {
    package var id: Int64 = 0
    package var event: Int64
    package var campaign: String
    package var kind: LedgerEvent.Kind
    package var url: String
    /// This and the following times are in milliseconds since 1970-01-01 UTC.
    package var at: Int64
    package var due: Int64
    package var attempts = 0
    package var failure: String?
    package var abandonedAt: Int64?

    package init(event: Int64, campaign: String, kind: LedgerEvent.Kind, url: String, at: Int64, due: Int64) {
        (self.event, self.campaign, self.kind, self.url, self.at, self.due) = (event, campaign, kind, url, at, due)
    }
}

package struct TrackerCalls: Sendable {
    private let pseudonyms: HMACSHA256

    package init(keys: SigningKeys) {
        pseudonyms = HMACSHA256(key: keys.current.derived(for: SigningPurpose(rawValue: "tracker")))
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
            "campaign": event.impressionContext?.campaign ?? "", "ad": event.cell,
        ]
        return templates.map {
            TrackerCall(
                event: recorded.sequence, campaign: event.impressionContext?.campaign ?? "", kind: event.kind, url: $0.filled(values),
                at: event.at,
                due: event.at)
        }
    }

    private func hash(_ viewer: String) -> String {
        Base64URL.encode(pseudonyms.code(of: viewer.utf8).prefix(16))
    }
}
