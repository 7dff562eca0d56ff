/// `feed.*`, `ads.*` and `cells.*`: what a page holds.
public struct FeedSettings: Sendable {
    public enum AdScope: String, Sendable, CaseIterable {
        /// Each page has its own ads, at its own midpoint.
        case page
        /// All eligible ads stand once, at the midpoint of the whole feed.
        case feed
    }

    /// Finished pages kept in memory, in bytes.
    public var cache: ByteCount
    /// How long clients and shared caches may use a page without asking again.
    public var maxAge: Duration
    /// The file that declares kinds of item besides users and advertisements, sections and feeds; empty for none.
    public var kinds: String
    public var adsPerPage: Int
    public var adScope: AdScope
    public var regularUserCell: UserCell
    public var featuredUserCell: UserCell

    /// The cells that a user can be shown in.
    public enum UserCell: String, Sendable, CaseIterable {
        case snapshot = "UserSnapshotCollectionViewCell"
        case circular = "CircularUserCollectionViewCell"
    }

    init(_ reader: inout SettingsReader) throws {
        cache = try reader.read("feed.cache", default: ByteCount(integerLiteral: 32 << 20))
        maxAge = try reader.read("feed.max-age", default: .seconds(0))
        kinds = try reader.read("feed.kinds", default: "", allowed: "a file's path")
        adsPerPage = try reader.read("ads.per-page", default: 1, in: 0...20)
        adScope = try reader.read("ads.scope", default: AdScope.page)
        regularUserCell = try reader.read("cells.user.regular", default: UserCell.snapshot)
        featuredUserCell = try reader.read("cells.user.featured", default: UserCell.circular)
    }
}
