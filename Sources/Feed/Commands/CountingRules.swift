/// When an event of a known person counts no more: repetitions inside a window, and more than a rate.
public struct CountingRules: Sendable, Hashable {
    /// Clicks of the same person on the same cell inside it are duplicates. Milliseconds.
    public var clickWindow: Int64 = 30_000
    /// An impression token counts once for each viewer inside it or, without one, once for each address. Milliseconds; as long as a token is
    /// valid, at the least.
    public var impressionWindow: Int64 = 25 * 3_600_000
    /// Clicks that count per viewer and per address in ``rateWindow``.
    public var clickLimit = 60
    /// Impressions that count per viewer and per address in ``rateWindow``.
    public var impressionLimit = 3_000
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

        /// Viewers share devices, so two of them are two people. One who named no viewer may be any of those who did on that device: what
        /// the first of them did is not counted again, whichever came first.
        ///
        /// - Parameter sinceYesterday: whether the window reaches back beyond midnight, when addresses were known by something else.
        func deduplication(_ what: String, once: Bool, window: Int64, sinceYesterday: Bool) -> LedgerEvent.Deduplication? {
            // A separator that no header value holds keeps the parts apart.
            let named = viewer.map { "\(what)\u{0}v\u{0}\($0)" }
            guard let address else {
                guard once || named != nil else { return nil }
                return LedgerEvent.Deduplication(key: named ?? "\(what)\u{0}t", window: window)
            }
            func keys(_ address: String) -> (anonymous: String, anyone: String) {
                let device = once ? address : "\(address)\u{0}\(userAgent ?? "")"
                return ("\(what)\u{0}d\u{0}\(device)", "\(what)\u{0}n\u{0}\(device)")
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

        /// An address alone: user agents are made up too easily.
        var rates: [String] { [viewer.map { "v\u{0}\($0)" }, address.map { "a\u{0}\($0)" }].compactMap { $0 } }
    }

    func apply(to event: inout LedgerEvent, identities: Identities, token: String?) {
        let (window, limit, what) =
            switch event.kind {
            case .click: (clickWindow, clickLimit, event.cell)
            case .impression: (impressionWindow, impressionLimit, token ?? event.cell)
            default: (Int64(0), 0, "")
            }
        guard limit > 0 else { return }
        let sinceMidnight = event.at % 86_400_000
        event.deduplication = identities.deduplication(
            "\(event.kind.rawValue)\u{0}\(what)", once: event.kind == .impression && token != nil, window: window,
            sinceYesterday: window > sinceMidnight)
        event.rates = identities.rates.map {
            LedgerEvent.RateLimit(key: "\(event.kind.rawValue)\u{0}\($0)", limit: limit, window: rateWindow)
        }
    }
}
