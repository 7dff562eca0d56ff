/// The client of an action: the identity that the ledger may record, and the counting state of the request.
///
/// ```swift
/// var client = ClientFingerprint(viewer: "ann", userAgent: "FeedApp/1.0")
/// client.isTracked = false  // The events have neither viewer nor address.
/// ```
package struct ClientFingerprint: Sendable, Hashable {
    /// The viewer for whom viewer-bound commands act.
    package var viewer: String?
    /// The truncated or hashed address, never a full address.
    package var address: String?
    /// A keyed hash of the full address that identifies the address for counting. The hash changes every day.
    ///
    /// No event row contains the hash. The ledger keeps it only in its records of duplicates and rates until they expire.
    package var addressHash: String?
    /// The values of ``addressHash`` under the previous and next signing keys. The array is empty without such keys.
    package var otherAddressHashes: [String]
    /// The values of ``addressHash`` on the previous day (UTC), one for each signing key.
    package var yesterdaysAddressHashes: [String]
    /// The `User-Agent` field of the request, or nil without one.
    package var userAgent: String?
    /// False if `DNT` or `Sec-GPC` requests no tracking. Events are then recorded without viewer and address.
    package var isTracked: Bool
    /// The verdict that follows from the request alone. The ledger adds the checks for duplicates and rate limits.
    package var verdict: Verdict
    /// The rules by which events of the client are counted.
    package var counting: CountingRules
    /// The identifier of the impression of the request (``ImpressionToken/impression``).
    ///
    /// Impressions are deduplicated by person and token, clicks by person and cell. For a click, this is the impression of the clicked ad slot.
    package var token: String?
    /// The language of the response, or nil if no language is declared.
    package var language: FeedLanguage?
    /// The context in which the cell of the request was shown.
    package var showing: ImpressionContext?

    /// Creates the identity of a client. Without arguments, the client is anonymous and its events count.
    package init(
        viewer: String? = nil, address: String? = nil, addressHash: String? = nil, otherAddressHashes: [String] = [],
        yesterdaysAddressHashes: [String] = [], userAgent: String? = nil, isTracked: Bool = true, verdict: Verdict = .counted,
        counting: CountingRules = CountingRules()
    ) {
        self.viewer = viewer
        self.address = address
        self.addressHash = addressHash
        self.otherAddressHashes = otherAddressHashes
        self.yesterdaysAddressHashes = yesterdaysAddressHashes
        self.userAgent = userAgent
        self.isTracked = isTracked
        self.verdict = verdict
        self.counting = counting
    }

    /// The viewer that ledger rows may contain, or nil if the client is not tracked.
    var tracedViewer: String? { isTracked ? viewer : nil }

    /// Returns an event of this client with the rules by which the ledger decides whether it counts.
    package func event(_ kind: LedgerEvent.Kind, cell: String, at now: Int64) -> LedgerEvent {
        var event = LedgerEvent(
            at: now, kind: kind, cell: cell, viewer: tracedViewer, address: isTracked ? address : nil, userAgent: userAgent,
            verdict: verdict, showing: showing)
        guard verdict == .counted else { return event }
        counting.apply(to: &event, identities: identities, token: token)
        return event
    }

    private var identities: CountingRules.Identities {
        CountingRules.Identities(
            viewer: tracedViewer, address: addressHash, otherAddresses: otherAddressHashes, yesterdaysAddresses: yesterdaysAddressHashes,
            userAgent: userAgent)
    }
}
