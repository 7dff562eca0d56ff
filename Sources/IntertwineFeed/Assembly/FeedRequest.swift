package struct FeedRequest: Sendable {
    package static let limits = 1...100
    package static let defaultLimit = ContentRange.usualCount
    package static let scales = 1...3

    package var cursor: String?
    package var limit: Int
    /// The time of the request in milliseconds since 1970-01-01 UTC.
    package var now: Int64
    package var layout: CellLayout
    /// The client's width in points; nil if unknown.
    package var width: Int?
    package var scale: Int
    package var rotationHour: UInt32?
    package var followsChanges: Bool
    package var language: FeedLanguage?
    package var filters: [String: [String]] = [:]
    package var unsupportedCells: UnsupportedCells?
    package var client: String?
    /// The page is one as of ``now``, for operators: whatever is public at present, and with tokens of no service.
    package var preview: Preview?

    package struct Preview: Sendable {
        package var showsDrafts: Bool

        package init(showsDrafts: Bool) { self.showsDrafts = showsDrafts }
    }

    package init(
        cursor: String? = nil, limit: Int = FeedRequest.defaultLimit, now: Int64, layout: CellLayout = .collection, width: Int? = nil,
        scale: Int = 1, rotationHour: UInt32? = nil, followsChanges: Bool = false
    ) {
        self.cursor = cursor
        self.limit = limit
        self.now = now
        self.layout = layout
        self.width = width
        self.scale = scale
        self.rotationHour = rotationHour
        self.followsChanges = followsChanges
    }

    var purpose: ReadPurpose { preview == nil ? .page : .background }
}

package struct PageClient: Sendable {
    package typealias Viewer = (name: String, state: any ViewerStateStore)

    package var viewer: Viewer?
    package var targeting: TargetingContext?
    /// They are read only for feeds that depend on the viewer.
    package var attributes: ViewerAttributes?
    /// Why: HEAD requests and robots show no page to a person, and an answer of a ranker may be expensive.
    package var asksRanker = true

    package init(viewer: Viewer? = nil, targeting: TargetingContext? = nil) {
        (self.viewer, self.targeting) = (viewer, targeting)
    }

    package init(_ viewer: String?, in ledger: any Ledger, targeting: TargetingContext? = nil, attributes: ViewerAttributes? = nil) {
        self.init(viewer: viewer.map { ($0, ListMembership(of: $0, in: ledger)) }, targeting: targeting)
        self.attributes = attributes
    }
}

package enum FeedError: Error, Sendable, Hashable {
    case limitOutOfRange(Int)
    case cursor(CursorError)
    case capabilities(String)
}
