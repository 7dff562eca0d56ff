/// The parameters of a request for one page of a feed.
package struct FeedRequest: Sendable {
    /// The range of content items per page; advertisements are added to them.
    package static let limits = 1...100
    package static let defaultLimit = 20
    /// The range of pixels per point for images.
    package static let scales = 1...3

    /// The cursor as sent by the client; nil for the first page.
    package var cursor: String?
    package var limit: Int
    /// The time of the request in milliseconds since 1970-01-01 UTC.
    package var now: Int64
    /// A Boolean value indicating whether the request has a viewer, so that commands for a viewer are offered.
    package var hasViewer: Bool
    /// The viewer's state, by which dismissed cells are skipped; nil for a request without a viewer.
    package var viewerState: (any ViewerStateStore)?
    package var layout: CellLayout
    /// The client's width in points; nil if unknown.
    package var width: Int?
    /// The pixels per point of the client's screen.
    package var scale: Int
    /// The seed that selects the first advertisement; nil for the first one in order. Later pages carry the position in their cursor.
    package var rotation: RotationSeed?
    /// A Boolean value indicating whether the page contains the value for requesting its changes.
    package var followsChanges: Bool
    /// The data for campaign targeting; nil if no campaign may be served.
    package var campaigns: TargetingContext?
    /// A Boolean value indicating whether the page must be equal for all viewers. If campaigns are active, it is then not assembled.
    package var isShared = false

    /// The language of texts; nil if no languages are declared.
    package var language: FeedLanguage?
    /// The cells that the client does not support; nil if it supports all or sends no capabilities.
    package var lacking: UnsupportedCells?
    /// The digest of the client's capabilities, if links carry it.
    package var client: String?

    package init(
        cursor: String? = nil, limit: Int = FeedRequest.defaultLimit, now: Int64, hasViewer: Bool = false,
        viewerState: (any ViewerStateStore)? = nil,
        layout: CellLayout = .collection, width: Int? = nil, scale: Int = 1, rotation: RotationSeed? = nil, followsChanges: Bool = false
    ) {
        self.cursor = cursor
        self.limit = limit
        self.now = now
        self.hasViewer = hasViewer
        self.viewerState = viewerState
        self.layout = layout
        self.width = width
        self.scale = scale
        self.rotation = rotation
        self.followsChanges = followsChanges
    }
}

/// An error for a page that was requested as shared, but is personalized by active campaigns.
package struct PageIsPersonalizedError: Error {}

/// A reason why a page request is invalid: HTTP status 400.
package enum FeedError: Error, Sendable, Hashable {
    /// The limit is outside ``FeedRequest/limits``.
    case limitOutOfRange(Int)
    case cursor(CursorError)
    /// The client's capabilities are malformed.
    case capabilities(String)
}
