extension Campaigns {
    /// Why an event that a page's token vouches for does not count, as far as campaigns decide that. The campaigns are those of the last look.
    ///
    /// An advertisement that belongs to a campaign counts for a campaign or not at all, so that reports by advertisement and by campaign agree.
    ///
    /// - Parameters:
    ///   - kind: of the event.
    ///   - creative: the advertisement, or another item, whose cell the token names.
    ///   - showing: what the token says.
    /// - Returns: `gone` if the token's campaign is stopped or removed, or the advertisement belongs to such campaigns alone. `late` if the
    ///   token's campaign does not run now, its goal of such events is reached, or the reservation of the impression's place is over; or if the
    ///   token names no campaign and the advertisement belongs to one. Otherwise nil.
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
