/// What one page of a feed was asked for with.
package struct FeedRequest: Sendable {
    /// How many content items a page may hold; advertisements come on top.
    package static let limits = 1...100
    package static let defaultLimit = 20
    /// Pixels per point that a client may ask its pictures with.
    package static let scales = 1...3

    /// The cursor as the client sent it; nil for the first page.
    package var cursor: String?
    package var limit: Int
    /// Milliseconds since 1970-01-01 UTC.
    package var now: Int64
    /// Whether the request has a viewer, so that viewer-bound commands are offered.
    package var hasViewer: Bool
    /// What the viewer did with cells: those that were dismissed are left out. Nil where nobody is named.
    package var viewerState: (any ViewerStateStore)?
    package var layout: CellLayout
    /// The client's width in points; nil where it does not tell.
    package var width: Int?
    /// Pixels per point of its screen.
    package var scale: Int
    /// With which advertisement a walk begins; the first one where nil. Pages further on have it in their cursor.
    package var rotation: RotationSeed?
    /// Whether the page tells what its changes are asked for with.
    package var followsChanges: Bool
    /// What campaigns may ask; nil where none is to have a place.
    package var campaigns: TargetingContext?
    /// Whether the page is to be the same for everyone: where campaigns have places, it is not made.
    package var isShared = false

    /// The language that texts are wanted in; nil where none is declared.
    package var language: FeedLanguage?
    /// The cells of the service that the client does not know; nil where it knows all, or says nothing of it.
    package var lacking: UnsupportedCells?
    /// The digest of the client's capabilities, where links are to carry it.
    package var client: String?

    package init(
        cursor: String? = nil, limit: Int = FeedRequest.defaultLimit, now: Int64, hasViewer: Bool = false,
        marks: (any ViewerStateStore)? = nil,
        layout: CellLayout = .collection, width: Int? = nil, scale: Int = 1, rotation: RotationSeed? = nil, followsChanges: Bool = false
    ) {
        self.cursor = cursor
        self.limit = limit
        self.now = now
        self.hasViewer = hasViewer
        self.viewerState = marks
        self.layout = layout
        self.width = width
        self.scale = scale
        self.rotation = rotation
        self.followsChanges = followsChanges
    }
}

/// A page is not the same for everyone, as it was to be: campaigns have places on it.
package struct PageIsPersonalizedError: Error {}

/// Why a page cannot be made: 400 over HTTP.
package enum FeedError: Error, Sendable, Hashable {
    /// The limit is not within ``FeedRequest/limits``.
    case limitOutOfRange(Int)
    case cursor(CursorError)
    /// What a client says that it can show cannot be read.
    case capabilities(String)
}
