extension Campaigns {
    /// Why an event that a page's token vouches for does not count, as far as campaigns decide that. The campaigns are those of the last look.
    ///
    /// An advertisement that belongs to a campaign counts for a campaign or not at all, so that reports by advertisement and by campaign agree.
    ///
    /// - Parameters:
    ///   - creative: the advertisement, or another item, whose cell the token names.
    ///   - showing: what the token says.
    /// - Returns: `gone` if the token's campaign is stopped or removed, or the advertisement belongs to such campaigns alone. `late` if the
    ///   token's campaign does not run now, or the token names none and the advertisement belongs to one. Otherwise nil.
    func verdict(on creative: CampaignCreative, _ showing: Showing?, at now: Int64) -> Verdict? {
        let book = latest
        if book.withholds(creative) { return .gone }
        guard let id = showing?.campaign else { return book.hasCreative(creative) ? .late : nil }
        guard let index = book.index(of: id) else { return .gone }
        return book.campaigns[index].isRunning(at: now) ? nil : .late
    }
}
