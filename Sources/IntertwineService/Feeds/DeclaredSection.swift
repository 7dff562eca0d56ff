internal import IntertwineFeed

/// A section as configuration says it.
struct DeclaredSection {
    var name: String
    /// The text of its header; nil for none.
    var title: String?
    /// The kinds that stand in it; for the main section, none.
    var kinds: [String] = []
    var order = SectionOrder.imported
    /// On each page, among the section's own content; nil where `ads.*` says it all.
    var advertisements: Int?

    /// Where advertisements stand in it; nil where the feed's own placement holds.
    func placement(_ scope: FeedSettings.AdScope) -> (any AdPlacement)? {
        guard let advertisements, scope == .page || advertisements == 0 else { return nil }
        return MidpointPlacement(scope: .page(advertisements: advertisements))
    }
}
