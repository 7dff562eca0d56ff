/// When an event of a known person counts no more: repetitions inside a window, and more than a rate.
public struct CountingRules: Sendable, Hashable {
    /// Clicks of the same person on the same cell inside it are duplicates. Milliseconds.
    public var clickWindow: Int64 = 30_000
    /// An impression token counts once for each viewer inside it or, without one, once for each address; that of a page that was made for one
    /// alone, as campaigns' pages are, once, whoever brings it. Milliseconds; as long as a token is valid, at the least.
    public var impressionWindow: Int64 = 25 * 3_600_000
    /// Clicks that count per viewer and per address in ``rateWindow``.
    public var clickLimit = 60
    /// Impressions that count per viewer and per address in ``rateWindow``.
    public var impressionLimit = 3_000
    /// Whether a click counts only after the impression of the cell on the same page, by the same person.
    public var countsSeenClicksAlone = false
    /// Milliseconds.
    public var rateWindow: Int64 = 60_000

    public init() {}

    /// By what the same person is known again: the viewer; or else address and user agent together for what one may do again after a while,
    /// and the address alone for what happens once: what a user agent is called costs nothing to change.
    struct Identities {
        var viewer: String?
        var address: String?
        /// What the address is known by under other signing keys, and was known by the day before.
        var otherAddresses: [String] = []
        var yesterdaysAddresses: [String] = []
        var userAgent: String?

        /// What happens once: for its viewer or, where none is named, for its address. The two have nothing to do with one another, so that
        /// the order in which people behind one address come decides nothing.
        ///
        /// - Parameter sinceYesterday: whether the window reaches back beyond midnight, when addresses were known by something else.
        func once(_ what: String, window: Int64, sinceYesterday: Bool) -> LedgerEvent.Deduplication {
            if let viewer { return LedgerEvent.Deduplication(key: CountingRules.key(what, "v", viewer), window: window) }
            guard let address else { return LedgerEvent.Deduplication(key: CountingRules.key(what, "t"), window: window) }
            let today = CountingRules.key(what, "d", address)
            let repeats = [today] + former(sinceYesterday).map { CountingRules.key(what, "d", $0) }
            return LedgerEvent.Deduplication(keys: [today], repeats: repeats, window: window)
        }

        /// What may be done again after a while. Viewers share devices, so two of them are two people. One who named no viewer may be any of
        /// those who did on that device: what the first of them did is not counted again, whichever came first.
        func again(_ what: String, window: Int64, sinceYesterday: Bool) -> LedgerEvent.Deduplication? {
            let named = viewer.map { CountingRules.key(what, "v", $0) }
            guard let address else { return named.map { LedgerEvent.Deduplication(key: $0, window: window) } }
            func anonymous(_ address: String) -> String { CountingRules.key(what, "d", address, userAgent ?? "") }
            func anyone(_ address: String) -> String { CountingRules.key(what, "n", address, userAgent ?? "") }
            let former = former(sinceYesterday)
            guard let named else {
                let today = anonymous(address)
                var repeats = [today, anyone(address)]
                for former in former { repeats += [anonymous(former), anyone(former)] }
                return LedgerEvent.Deduplication(keys: [today], repeats: repeats, window: window)
            }
            var repeats = [named, anonymous(address)]
            for former in former { repeats.append(anonymous(former)) }
            return LedgerEvent.Deduplication(keys: [named, anyone(address)], repeats: repeats, window: window)
        }

        private func former(_ sinceYesterday: Bool) -> [String] {
            sinceYesterday ? otherAddresses + yesterdaysAddresses : otherAddresses
        }

        /// By the address alone, besides the viewer: user agents are made up too easily.
        func rates(_ what: String, limit: Int, window: Int64) -> [LedgerEvent.RateLimit] {
            var rates: [LedgerEvent.RateLimit] = []
            rates.reserveCapacity(2)
            if let viewer { rates.append(.init(key: CountingRules.key(what, "v", viewer), limit: limit, window: window)) }
            if let address { rates.append(.init(key: CountingRules.key(what, "a", address), limit: limit, window: window)) }
            return rates
        }
    }

    func apply(to event: inout LedgerEvent, identities: Identities, token: String?) {
        // What was played is reported with the token of the impression; slots of the same names that are performed have none.
        let isReported = event.kind == .impression || token != nil && event.kind.isPlayback
        let (window, limit, what) =
            switch event.kind {
            case .click: (clickWindow, clickLimit, event.cell)
            case _ where isReported: (impressionWindow, impressionLimit, token ?? event.cell)
            default: (Int64(0), 0, "")
            }
        guard limit > 0 else { return }
        let sinceMidnight = event.at % 86_400_000
        if event.kind == .click, countsSeenClicksAlone {
            // Of a page that was made for one alone, too: that one has to have seen it.
            event.requiredPriorEvent = bySame(LedgerEvent.Kind.impression, token ?? "", event, identities)
        }
        let isPaid = event.kind == .click && event.showing?.campaign != nil
        event.deduplication =
            (isReported || isPaid) && token != nil
            ? once(event.kind, token ?? what, event, identities)
            : identities.again(Self.key(event.kind.rawValue, what), window: window, sinceYesterday: window > sinceMidnight)
        event.rates = identities.rates(event.kind.rawValue, limit: limit, window: rateWindow)
    }

    /// What is reported with a token happens once.
    private func once(
        _ kind: LedgerEvent.Kind, _ token: String, _ event: LedgerEvent, _ identities: Identities
    ) -> LedgerEvent.Deduplication {
        let key = Self.key(kind.rawValue, token)
        let own = bySame(kind, token, event, identities)
        guard event.showing?.campaign != nil else { return own }
        // The page was made for one alone: nobody else has it. Who saw it is noted where clicks are asked for that.
        let anybody = Self.key(key, "t")
        let notes = countsSeenClicksAlone && kind == .impression ? own.recordedKeys.filter { $0 != anybody } : []
        return LedgerEvent.Deduplication(keys: [anybody] + notes, repeats: [anybody], window: impressionWindow)
    }

    /// The same for the same person alone.
    private func bySame(
        _ kind: LedgerEvent.Kind, _ token: String, _ event: LedgerEvent, _ identities: Identities
    ) -> LedgerEvent.Deduplication {
        identities.once(
            Self.key(kind.rawValue, token), window: impressionWindow, sinceYesterday: impressionWindow > event.at % 86_400_000)
    }

    /// Parts with a separator between them that no header value holds. Made in one piece, where it stays: every click has half a dozen keys.
    private static func key(_ one: String, _ two: String, _ three: String? = nil, _ four: String? = nil) -> String {
        func length(_ part: String?) -> Int { part.map { $0.utf8.count + 1 } ?? 0 }
        let length = one.utf8.count + length(two) + length(three) + length(four)
        return String(unsafeUninitializedCapacity: length) { key in
            var end = key[...].initialize(fromContentsOf: one.utf8)
            func append(_ part: String) {
                key.initializeElement(at: end, to: 0)
                end = key[(end + 1)...].initialize(fromContentsOf: part.utf8)
            }
            append(two)
            if let three { append(three) }
            if let four { append(four) }
            return end
        }
    }
}
