/// When an event of a known person counts no more: repetitions inside a window, and more than a rate.
public struct CountingRules: Sendable, Hashable {
    /// Clicks of the same person on the same cell inside it are duplicates. Milliseconds.
    public var clickWindow: Int64 = 30_000
    /// Impressions of the same person with the same token inside it are duplicates. Milliseconds; as long as a token is valid, at the least.
    public var impressionWindow: Int64 = 25 * 3_600_000
    /// Clicks that count per viewer and per address and user agent in ``rateWindow``.
    public var clickLimit = 60
    /// Impressions that count per viewer and per address and user agent in ``rateWindow``.
    public var impressionLimit = 3_000
    /// Milliseconds.
    public var rateWindow: Int64 = 60_000

    public init() {}

    struct Identities {
        var viewer: String?
        var address: String?
        var userAgent: String?

        /// A separator that no header value holds keeps the parts apart.
        var device: String? { address.map { "d\u{0}\($0)\u{0}\(userAgent ?? "")" } }

        var person: String? { viewer.map { "v\u{0}\($0)" } ?? device }

        var all: [String] { [viewer.map { "v\u{0}\($0)" }, device].compactMap { $0 } }
    }

    func apply(to event: inout LedgerEvent, identities: Identities, token: String?) {
        let (window, limit, what) =
            switch event.kind {
            case .click: (clickWindow, clickLimit, event.cell)
            case .impression: (impressionWindow, impressionLimit, token ?? event.cell)
            case .selection, .deselection, .dismissal, .save, .undo: (Int64(0), 0, "")
            }
        guard limit > 0 else { return }
        if let person = identities.person {
            event.deduplication = .init(key: "\(event.kind.rawValue)\u{0}\(what)\u{0}\(person)", window: window)
        }
        event.rates = identities.all.map {
            LedgerEvent.RateLimit(key: "\(event.kind.rawValue)\u{0}\($0)", limit: limit, window: rateWindow)
        }
    }
}
