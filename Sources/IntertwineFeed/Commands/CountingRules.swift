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
        /// What the address was known by the day before.
        var formerAddress: String?
        var userAgent: String?

        /// What happens once: for its viewer or, where none is named, for its address. The two have nothing to do with one another, so that
        /// the order in which people behind one address come decides nothing.
        ///
        /// - Parameter sinceYesterday: whether the window reaches back beyond midnight, when addresses were known by something else.
        func once(_ what: String, window: Int64, sinceYesterday: Bool) -> LedgerEvent.Deduplication {
            if let viewer { return LedgerEvent.Deduplication(key: Self.key(what, "v", viewer), window: window) }
            guard let address else { return LedgerEvent.Deduplication(key: "\(what)\u{0}t", window: window) }
            let today = Self.key(what, "d", address)
            let yesterday = sinceYesterday ? formerAddress.map { Self.key(what, "d", $0) } : nil
            return LedgerEvent.Deduplication(keys: [today], repeats: [today, yesterday].compactMap { $0 }, window: window)
        }

        /// What may be done again after a while. Viewers share devices, so two of them are two people. One who named no viewer may be any of
        /// those who did on that device: what the first of them did is not counted again, whichever came first.
        func again(_ what: String, window: Int64, sinceYesterday: Bool) -> LedgerEvent.Deduplication? {
            let named = viewer.map { Self.key(what, "v", $0) }
            guard let address else { return named.map { LedgerEvent.Deduplication(key: $0, window: window) } }
            func keys(_ address: String) -> (anonymous: String, anyone: String) {
                let device = CountingRules.joined(address, userAgent ?? "")
                return (Self.key(what, "d", device), Self.key(what, "n", device))
            }
            let today = keys(address)
            let yesterday = sinceYesterday ? formerAddress.map(keys) : nil
            guard let named else {
                let repeats = [today.anonymous, today.anyone, yesterday?.anonymous, yesterday?.anyone].compactMap { $0 }
                return LedgerEvent.Deduplication(keys: [today.anonymous], repeats: repeats, window: window)
            }
            let repeats = [named, today.anonymous, yesterday?.anonymous].compactMap { $0 }
            return LedgerEvent.Deduplication(keys: [named, today.anyone], repeats: repeats, window: window)
        }

        /// A separator that no header value holds keeps the parts apart.
        private static func key(_ what: String, _ kind: String, _ who: String) -> String {
            CountingRules.joined(what, CountingRules.joined(kind, who))
        }

        /// An address alone: user agents are made up too easily.
        var rates: [String] {
            [viewer.map { CountingRules.joined("v", $0) }, address.map { CountingRules.joined("a", $0) }].compactMap { $0 }
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
            event.requirement = once(LedgerEvent.Kind.impression, token ?? "", event, identities)
        }
        event.deduplication =
            isReported && token != nil
            ? once(event.kind, what, event, identities)
            : identities.again(Self.joined(event.kind.rawValue, what), window: window, sinceYesterday: window > sinceMidnight)
        event.rates = identities.rates.map {
            LedgerEvent.RateLimit(key: Self.joined(event.kind.rawValue, $0), limit: limit, window: rateWindow)
        }
    }

    /// What is reported with a token happens once.
    private func once(
        _ kind: LedgerEvent.Kind, _ token: String, _ event: LedgerEvent, _ identities: Identities
    ) -> LedgerEvent.Deduplication {
        let key = Self.joined(kind.rawValue, token)
        // The page was made for one alone: nobody else has it.
        if event.showing?.campaign != nil { return LedgerEvent.Deduplication(key: Self.joined(key, "t"), window: impressionWindow) }
        return identities.once(key, window: impressionWindow, sinceYesterday: impressionWindow > event.at % 86_400_000)
    }

    /// Made with one allocation: every click has half a dozen keys.
    private static func joined(_ one: String, _ other: String) -> String {
        var key = ""
        key.reserveCapacity(one.utf8.count + other.utf8.count + 1)
        key += one
        key += "\u{0}"
        key += other
        return key
    }
}
