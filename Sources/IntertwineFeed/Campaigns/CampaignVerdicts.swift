extension Campaigns {
    /// Returns the verdict that campaigns impose on an event with an authentic token; nil if the event may count. It uses the campaigns of
    /// the last load.
    ///
    /// An ad that belongs to a campaign counts for a campaign or not at all. Reports by ad and reports by campaign therefore agree.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - creative: The ad, or another item, whose cell the token names.
    ///   - showing: The impression context in the token.
    /// - Returns: `gone` if the token's campaign is stopped or removed, or if the ad belongs only to such campaigns. `late` in four cases:
    ///   the campaign of the token does not run now; its goal for such events is reached; the reservation of the impression has expired; or
    ///   the token names no campaign and the ad belongs to one. Otherwise nil.
    func verdict(on kind: LedgerEvent.Kind, of creative: CreativeID, _ showing: ImpressionContext?, at now: Int64) -> Verdict? {
        let book = latest
        if book.isExclusive(creative) { return .gone }
        guard let id = showing?.campaign else { return book.hasCreative(creative) ? .late : nil }
        guard let index = book.index(of: id) else { return .gone }
        let campaign = book.campaigns[index]
        guard campaign.isRunning(at: now) else { return .late }
        if kind == .impression, let ends = showing?.ends, now >= ends { return .late }
        return campaign.goal?.kind == kind && delivery.isReached(id, at: now) ? .late : nil
    }
}
