package struct ClientFingerprint: Sendable, Hashable {
    package var viewer: String?
    /// The truncated or hashed address, never a full address.
    package var address: String?
    package var addressHash: String?
    package var otherAddressHashes: [String]
    package var yesterdaysAddressHashes: [String]
    package var networkHashes: [String] = []
    package var userAgent: String?
    package var isTracked: Bool
    package var verdict: Verdict
    package var counting: CountingRules
    package var token: String?
    package var language: FeedLanguage?
    package var impressionContext: ImpressionContext?

    package init(
        viewer: String? = nil, address: String? = nil, addressHash: String? = nil, otherAddressHashes: [String] = [],
        yesterdaysAddressHashes: [String] = [], userAgent: String? = nil, isTracked: Bool = true, verdict: Verdict = .counted,
        counting: CountingRules = CountingRules()
    ) {
        (self.viewer, self.address, self.addressHash, self.otherAddressHashes) = (viewer, address, addressHash, otherAddressHashes)
        (self.yesterdaysAddressHashes, self.userAgent, self.isTracked) = (yesterdaysAddressHashes, userAgent, isTracked)
        (self.verdict, self.counting) = (verdict, counting)
    }

    var tracedViewer: String? { isTracked ? viewer : nil }

    package func event(_ kind: LedgerEvent.Kind, cell: String, of creative: CreativeInfo? = nil, at now: Int64) -> LedgerEvent {
        var event = LedgerEvent(
            at: now, kind: kind, cell: cell, viewer: tracedViewer, address: isTracked ? address : nil, userAgent: userAgent,
            verdict: verdict, impressionContext: impressionContext)
        event.creative = creative
        guard verdict == .counted else { return event }
        counting.apply(to: &event, identities: identities, token: token)
        return event
    }

    private var identities: CountingRules.Identities {
        CountingRules.Identities(
            viewer: tracedViewer, address: addressHash, otherAddresses: otherAddressHashes, yesterdaysAddresses: yesterdaysAddressHashes,
            networks: networkHashes, userAgent: userAgent)
    }
}
