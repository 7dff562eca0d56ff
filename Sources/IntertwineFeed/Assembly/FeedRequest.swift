/// A request for one page of a feed, without the client that it is for. Clients with equal requests can share a page.
package struct FeedRequest: Sendable {
    /// The range of content items per page; advertisements are added to them.
    package static let limits = 1...100
    package static let defaultLimit = ContentRange.usualCount
    /// The range of pixels per point for images.
    package static let scales = 1...3

    /// The cursor as sent by the client; nil for the first page.
    package var cursor: String?
    package var limit: Int
    /// The time of the request in milliseconds since 1970-01-01 UTC.
    package var now: Int64
    package var layout: CellLayout
    /// The client's width in points; nil if unknown.
    package var width: Int?
    /// The pixels per point of the client's screen.
    package var scale: Int
    /// The hour at which the session began, which selects its first house ad together with the viewer; nil for the first one in order.
    package var rotationHour: UInt32?
    /// A Boolean value indicating whether the page contains the value for requesting its changes.
    package var followsChanges: Bool
    /// The language of texts; nil if no languages are declared.
    package var language: FeedLanguage?
    /// The cells that the client does not support; nil if it supports all or sends no capabilities.
    package var lacking: UnsupportedCells?
    /// The digest of the client's capabilities, if links carry it.
    package var client: String?

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
}

/// The client that a page is assembled for. A page for a client without a viewer and without targeting is equal for all such clients.
package struct PageClient: Sendable {
    /// A viewer, with the store of the viewer's actions on cells.
    package struct Viewer: Sendable {
        package var name: String
        package var state: any ViewerStateStore

        package init(_ name: String, state: any ViewerStateStore) {
            (self.name, self.state) = (name, state)
        }
    }

    /// The viewer that the request names. Dismissed cells are skipped, and commands for a viewer are offered; nil without a viewer.
    package var viewer: Viewer?
    /// The data for campaign targeting; nil if no campaign may be served.
    package var targeting: TargetingContext?

    package init(viewer: Viewer? = nil, targeting: TargetingContext? = nil) {
        (self.viewer, self.targeting) = (viewer, targeting)
    }

    /// Creates the client of a viewer whose actions a ledger records, or of no viewer.
    package init(_ viewer: String?, in ledger: any Ledger, targeting: TargetingContext? = nil) {
        self.init(viewer: viewer.map { Viewer($0, state: ListMembership(of: $0, in: ledger)) }, targeting: targeting)
    }
}

/// A reason why a page request is invalid: HTTP status 400.
package enum FeedError: Error, Sendable, Hashable {
    /// The limit is outside ``FeedRequest/limits``.
    case limitOutOfRange(Int)
    case cursor(CursorError)
    /// The client's capabilities are malformed.
    case capabilities(String)
}
