internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineRouting

/// What several of the feed's routes are asked with.
enum FeedParameters {
    static let limit = Parameter.integer(
        "limit", in: FeedRequest.limits, default: FeedRequest.defaultLimit,
        "Content items on the page; advertisements come on top of it.", example: 20)

    /// - Note: pages that are kept are found by text, to which some characters beyond ASCII are the same as a letter.
    static let cursor = Parameter.text(
        "cursor", .string(minLength: 1, pattern: "^[A-Za-z0-9_-]+$"),
        """
        Where to go on: opaque, signed by the service, and good for the list that gave it alone. It stands in the hrefs `page.next` and \
        `page.previous`, which are best followed as they are; without it, the list begins at its start. No client can make a cursor up, and an \
        altered one is refused (400, `invalid-cursor`).
        """, example: nil
    ) { (query) throws(Problem) in
        let cursor: String?
        do throws(Problem) { cursor = try query.text("cursor") } catch { throw Problem(.badRequest, .invalidCursor, error.detail) }
        guard cursor?.utf8.allSatisfy({ $0 < 0x80 }) != false else { throw FeedError.cursor(.invalid).problem }
        return cursor
    }

    static let layout = Parameter.word(
        "layout", default: CellLayout.collection, "Which form of cells: those of collections or those of tables.", example: .table)

    static let width = Parameter.integer(
        "width", in: SizeRule.widths,
        "The client's width in points, from which sizes are computed by each cell's rule; without it they are fixed.", example: 390)

    static let changes = Parameter.flag(
        "changes",
        """
        Whether the page is to tell, in `page.since`, what its changes are asked for with. The wish is handed on to `page.next` and \
        `page.previous`.
        """)

    static let since = Parameter.text(
        "since", .string(minLength: 1, pattern: "^[A-Za-z0-9_,-]+$"),
        """
        The `page.since` of each page that the client holds, in the order of the feed and with commas in between; at most 16. Each page must be \
        the `next` one of the page before. A client that holds more asks about those around what it shows, and drops those behind them.
        """, isRequired: true, example: #""AZ-OYdNyCY8QFAAAAAt1c2VyOmFuZHJlYQ""#
    ) { (query) throws(Problem) in
        guard let since = try query.text("since"), !since.isEmpty, since.utf8.allSatisfy(isPlain) else {
            throw Problem(.badRequest, .invalidParameter, "since must be the page.since of each page that is held, with commas in between.")
        }
        return since
    }

    /// Characters of base64url, and the comma.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ","):
            true
        default: false
        }
    }

    static let simulate = Parameter.flag("simulate", "Tells what would run, and runs nothing.")

    /// Anything in a segment but control characters.
    static let plain = Schema.string(minLength: 1, pattern: #"^[^\u0000-\u001f\u007f]+$"#)

    static let cell = Parameter.segment(
        "id", plain.with("format", .text("cell-id")), "The cell's id, percent-encoded.", example: #""user:tt""#)

    // MARK: Fields that are read elsewhere

    /// The name that descriptions have for the field that names the viewer; ``APIDescription`` puts the configured one in its place.
    static let viewerField = "X-Viewer-ID"

    static let viewer = Parameter.field(
        viewerField, .string(maxLength: 256),
        """
        Who asks, set by whatever authenticates in front of the service. UTF-8, at most 256 characters; empty is nobody. Names that differ in a \
        byte are two. The field's name is configuration.
        """, example: #""viewer-1""#)

    static let requiredViewer = Parameter.field(
        viewerField, .string(minLength: 1, maxLength: 256),
        "Whose it is, set by whatever authenticates in front of the service. At most 256 characters. The field's name is configuration.",
        isRequired: true, example: #""viewer-1""#)

    static let ifNoneMatch = Parameter.field(
        "If-None-Match", .string, "Entity tags of what the client has; one that is still right is answered 304.",
        example: #""\"a7f926ae9b1ba20481b0fe74\"""#)
}
