/// Who asks for an action, as far as the ledger may know it, and how it counts.
public struct ClientFingerprint: Sendable, Hashable {
    /// For whom viewer-bound commands act.
    public var viewer: String?
    /// Already truncated or hashed; never a full address.
    public var address: String?
    /// By what counting knows the address again: a keyed hash of the whole of it, another one every day. It is in no row of an event, only
    /// in what the ledger keeps of duplicates and rates until their time is over.
    public var addressHash: String?
    /// What ``addressHash`` is under the signing keys before and after; empty where there are none.
    public var otherAddressHashes: [String]
    /// What ``addressHash`` was the day before, in UTC, under each of the keys.
    public var yesterdaysAddressHashes: [String]
    public var userAgent: String?
    /// False where `DNT` or `Sec-GPC` asked for it: events are then recorded without viewer and address.
    public var isTracked: Bool
    /// What the request itself says about counting; duplicates and limits are decided by the ledger.
    public var verdict: Verdict
    public var counting: CountingRules
    /// The impression that the request is about (``ImpressionToken/impression``): impressions are duplicates per person and token, clicks per person
    /// and cell. Of a click, that of the same place.
    var token: String?
    /// What whoever made the request is told in; nil where no language is declared.
    package var language: FeedLanguage?
    /// Where the cell was shown that the request is about.
    var showing: ImpressionContext?

    public init(
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

    /// The viewer as the ledger's rows may know it.
    var tracedViewer: String? { isTracked ? viewer : nil }

    /// An event of this client, with the rules by which the ledger decides whether it counts.
    func event(_ kind: LedgerEvent.Kind, cell: String, at now: Int64) -> LedgerEvent {
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
