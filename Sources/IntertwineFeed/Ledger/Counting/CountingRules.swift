/// The rules by which an event of a known person does not count: duplicates within a window, and rate limits.
package struct CountingRules: Sendable, Hashable {
    /// The deduplication window for clicks of one person on one cell, in milliseconds.
    package var clickWindow: Int64 = 30_000
    /// The deduplication window for impressions, in milliseconds. It must be at least as long as a token is valid.
    package var impressionWindow: Int64 = 25 * 3_600_000
    package var clickLimit = 60
    package var impressionLimit = 3_000
    package var campaignClickLimit = 1_200
    /// For a page that was made for one viewer, such as one with campaigns, an impression by any client suffices. Otherwise it must come from
    /// the same person. Why: apps open links in a browser, which does not name the viewer.
    package var countsSeenClicksAlone = false
    /// The window of the rate limits, in milliseconds.
    var rateWindow: Int64 = 60_000

    package init() {}

    /// Without a viewer, repeatable events use address and user agent together, and one-time events use the address only. Why: a user agent
    /// is trivial to forge.
    struct Identities {
        var viewer: String?
        var address: String?
        var otherAddresses: [String] = []
        var yesterdaysAddresses: [String] = []
        /// The networks /56 and /48 of an IPv6 address.
        var networks: [String] = []
        var userAgent: String?

        /// The two identities are independent, so the order of events of different people behind one address has no effect.
        func once(_ what: String, window: Int64, sinceYesterday: Bool) -> LedgerEvent.Deduplication {
            if let viewer { return LedgerEvent.Deduplication(key: CountingRules.key(what, "v", viewer), window: window) }
            guard let address else { return LedgerEvent.Deduplication(key: CountingRules.key(what, "t"), window: window) }
            let today = CountingRules.key(what, "d", address)
            let repeats = [today] + former(sinceYesterday).map { CountingRules.key(what, "d", $0) }
            return LedgerEvent.Deduplication(keys: [today], repeats: repeats, window: window)
        }

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

        func person(_ what: String) -> String? {
            viewer.map { CountingRules.key(what, "v", $0) } ?? address.map { CountingRules.key(what, "d", $0, userAgent ?? "") }
        }

        func former(_ sinceYesterday: Bool) -> [String] {
            sinceYesterday ? otherAddresses + yesterdaysAddresses : otherAddresses
        }

        /// Why the address alone: user agents are trivial to forge.
        func rates(_ what: String, limit: Int, window: Int64) -> [LedgerEvent.RateLimit] {
            var rates: [LedgerEvent.RateLimit] = []
            rates.reserveCapacity(2)
            if let viewer { rates.append(.init(key: CountingRules.key(what, "v", viewer), limit: limit, window: window)) }
            if let address { rates.append(.init(key: CountingRules.key(what, "a", address), limit: limit, window: window)) }
            return rates
        }
    }

    func apply(to event: inout LedgerEvent, identities: Identities, token: String?) {
        // Playback is reported with the token of the impression. A performed slot with such a name has no token.
        let isReported = event.kind == .impression || token != nil && event.kind.isPlayback
        let (window, limit, what) =
            switch event.kind {
            case .click: (clickWindow, clickLimit, event.cell)
            case _ where isReported: (impressionWindow, impressionLimit, token ?? event.cell)
            // A selection has no rate: the service's own limits of writes apply to it.
            case .selection where event.creative != nil && token != nil: (impressionWindow, .max, event.cell)
            default: (Int64(0), 0, "")
            }
        guard limit > 0 else { return }
        let sinceMidnight = event.at % 86_400_000
        if event.kind == .click, countsSeenClicksAlone {
            event.requiredPriorEvents = [prior(.impression, token ?? "", event, identities)]
        } else if isReported, let token {
            event.requiredPriorEvents = event.kind.before.map { prior($0, token, event, identities) }
        }
        let isPaid = event.kind == .click && event.impressionContext?.campaign != nil
        event.deduplication =
            (isReported || isPaid || event.kind == .selection) && token != nil
            ? once(event.kind, token ?? what, event, identities)
            : identities.again(Self.key(event.kind.rawValue, what), window: window, sinceYesterday: window > sinceMidnight)
        guard event.kind != .selection else { return }
        event.rates = identities.rates(event.kind.rawValue, limit: limit, window: rateWindow)
        // Each page has another token, so a page that is loaded twice would be paid twice.
        if isPaid, token != nil, clickWindow > 0, let person = identities.person(Self.key(event.kind.rawValue, what)) {
            event.rates.insert(.init(key: person, limit: 1, window: clickWindow, verdict: .duplicate), at: 0)
        }
        if event.kind == .click { event.rates += clickRates(of: event, identities) }
    }

    /// Why: one subscriber often has a network of 56 or 48 bits, and thousands of those of 64 bits.
    private func clickRates(of event: LedgerEvent, _ identities: Identities) -> [LedgerEvent.RateLimit] {
        var rates = identities.networks.enumerated().map { index, network in
            LedgerEvent.RateLimit(key: Self.key("click", "p", network), limit: clickLimit << (index + 1), window: rateWindow)
        }
        if let campaign = event.impressionContext?.campaign {
            rates.append(LedgerEvent.RateLimit(key: Self.key("click", "c", campaign), limit: campaignClickLimit, window: rateWindow))
        }
        return rates
    }

    private func once(
        _ kind: LedgerEvent.Kind, _ token: String, _ event: LedgerEvent, _ identities: Identities
    ) -> LedgerEvent.Deduplication {
        // The page was created for one viewer, so the token counts once for all.
        if event.impressionContext?.campaign != nil { return byAnybody(kind, token) }
        var own = bySame(kind, token, event, identities)
        if kind == .impression, countsSeenClicksAlone, event.creative != nil, identities.viewer != nil, let address = identities.address {
            own.recordedKeys.append(Self.key(Self.key(kind.rawValue, token), "n", address))
        }
        return own
    }

    /// Returns the keys of which an earlier event with a token must have recorded one.
    private func prior(
        _ kind: LedgerEvent.Kind, _ token: String, _ event: LedgerEvent, _ identities: Identities
    ) -> LedgerEvent.Deduplication {
        if event.impressionContext?.campaign != nil { return byAnybody(kind, token) }
        var own = bySame(kind, token, event, identities)
        guard event.kind == .click, identities.viewer == nil, let address = identities.address else { return own }
        // The viewer of an app that opens the link in a browser.
        let former = identities.former(impressionWindow > event.at % 86_400_000)
        own.checkedKeys += ([address] + former).map { Self.key(Self.key(kind.rawValue, token), "n", $0) }
        return own
    }

    private func byAnybody(_ kind: LedgerEvent.Kind, _ token: String) -> LedgerEvent.Deduplication {
        LedgerEvent.Deduplication(key: Self.key(Self.key(kind.rawValue, token), "t"), window: impressionWindow)
    }

    private func bySame(
        _ kind: LedgerEvent.Kind, _ token: String, _ event: LedgerEvent, _ identities: Identities
    ) -> LedgerEvent.Deduplication {
        identities.once(
            Self.key(kind.rawValue, token), window: impressionWindow, sinceYesterday: impressionWindow > event.at % 86_400_000)
    }

    /// Why one allocation: every click has about six keys.
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
