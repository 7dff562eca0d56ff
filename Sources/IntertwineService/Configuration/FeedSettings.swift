public import IntertwineFeed

/// `feed.*`, `ads.*` and `cells.*`: what a page holds.
public struct FeedSettings: Sendable {
    public enum AdScope: String, Sendable, CaseIterable {
        /// Each page has its own ads, at its own midpoint.
        case page
        /// All eligible ads stand once, at the midpoint of the whole feed.
        case feed
    }

    public enum AdStart: String, Sendable, CaseIterable {
        /// Each viewer and each hour begins with another ad.
        case fair
        /// Every walk begins with the first one that was listed.
        case listed
    }

    /// Finished pages kept in memory, in bytes.
    public var cache: ByteCount = .mebibytes(32)
    /// Finished cells kept in memory, in bytes: what pages are put together from.
    public var cells: ByteCount = .mebibytes(32)
    /// For how long after it was made a finished page is served although something was written since; zero for never.
    public var stale: Duration = .zero
    /// How long clients and shared caches may use a page without asking again.
    public var maxAge: Duration = .zero
    /// The file that declares kinds of item besides users and advertisements, sections and feeds; empty for none.
    public var kinds = ""
    public var adsPerPage = 1
    public var adScope = AdScope.page
    public var adRotation = AdStart.fair
    public var regularUserCell = UserCell.snapshot
    public var featuredUserCell = UserCell.circular

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("feed.cache", &cache)
        reader.read("feed.cells", &cells)
        reader.read("feed.stale", &stale, in: .zero ... .seconds(3_600))
        reader.read("feed.max-age", &maxAge)
        reader.read("feed.kinds", &kinds, allowed: "a file's path")
        reader.read("ads.per-page", &adsPerPage, in: 0...20)
        reader.read("ads.scope", &adScope)
        reader.read("ads.rotation", &adRotation)
        reader.read("cells.user.regular", &regularUserCell)
        reader.read("cells.user.featured", &featuredUserCell)
    }
}
