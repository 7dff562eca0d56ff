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
    /// The cells that the viewer has dismissed; nil for none.
    package var hidden: (any HiddenCells)?
    package var layout: CellLayout
    /// The client's width in points; nil where it does not tell.
    package var width: Int?
    /// Pixels per point of its screen.
    package var scale: Int
    /// With which advertisement a walk begins; the first one where nil. Pages further on have it in their cursor.
    package var rotation: RotationStart?
    /// Whether the page tells what its changes are asked for with.
    package var followsChanges: Bool

    package init(
        cursor: String? = nil, limit: Int = FeedRequest.defaultLimit, now: Int64, hasViewer: Bool = false, hidden: (any HiddenCells)? = nil,
        layout: CellLayout = .collection, width: Int? = nil, scale: Int = 1, rotation: RotationStart? = nil, followsChanges: Bool = false
    ) {
        self.cursor = cursor
        self.limit = limit
        self.now = now
        self.hasViewer = hasViewer
        self.hidden = hidden
        self.layout = layout
        self.width = width
        self.scale = scale
        self.rotation = rotation
        self.followsChanges = followsChanges
    }
}

/// Why a page cannot be made: 400 over HTTP.
package enum FeedError: Error, Sendable, Hashable {
    /// The limit is not within ``FeedRequest/limits``.
    case limitOutOfRange(Int)
    case cursor(CursorError)
}

/// A set of cells that can be asked of one cell after another, as it is at one moment; valid only inside the call that is given it.
public protocol CellSet {
    func contains(_ cell: String) throws -> Bool
}

/// The cells that a viewer does not want to see. However many there are, a page asks of those alone that could stand on it.
package protocol HiddenCells: Sendable {
    /// Blocks while `body` runs, which happens on a thread that reads the store.
    ///
    /// - Throws: ``StoreError/unavailable(_:)``, or what `body` throws.
    func read<Value>(_ body: (any CellSet) throws -> Value) throws -> Value
}

/// What a viewer has on a list.
package struct ListedCells: HiddenCells {
    private let list: ViewerList
    private let viewer: String
    private let ledger: any Ledger

    package init(on list: ViewerList, of viewer: String, in ledger: any Ledger) {
        self.list = list
        self.viewer = viewer
        self.ledger = ledger
    }

    package func read<Value>(_ body: (any CellSet) throws -> Value) throws -> Value {
        try ledger.withCells(on: list, of: viewer, body)
    }
}
