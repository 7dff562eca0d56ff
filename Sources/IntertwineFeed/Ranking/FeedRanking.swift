internal import IntertwinePrimitives
internal import Synchronization

package protocol FeedRanker: Sendable {
    /// Returns at most `limit` items that follow a cursor of an earlier skeleton; nil for the first ones. No viewer sees those of a preview.
    func skeleton(
        of feed: String, for context: FeedContext, limit: Int, after cursor: String?, isPreview: Bool
    ) async throws -> FeedSkeleton
}

package struct FeedSkeleton: Sendable {
    package struct Item: Sendable {
        package var cell: String
        package var reason: String?

        package init(cell: String, reason: String? = nil) { (self.cell, self.reason) = (cell, reason) }
    }

    package var items: [Item]
    package var cursor: String?

    package init(_ items: [Item], cursor: String? = nil) { (self.items, self.cursor) = (items, cursor) }
}

package final class FeedRanking: Sendable {
    /// The number of skeletons for one page. Why: a ranker of which the service drops all items must not delay a page without end.
    static let requestLimit = 4

    private let feed: String
    private let ranker: any FeedRanker
    private let last = Mutex(
        BoundedCache<FeedContext, FeedSkeleton>(limit: 4 << 20) { _, skeleton in
            skeleton.items.reduce(512) { $0 + 64 + $1.cell.utf8.count + ($1.reason?.utf8.count ?? 0) }
        })

    package init(of feed: String, by ranker: any FeedRanker) { (self.feed, self.ranker) = (feed, ranker) }

    func skeleton(for context: FeedContext, limit: Int, after cursor: String?, isPreview: Bool) async throws -> FeedSkeleton {
        var skeleton = try await ranker.skeleton(of: feed, for: context, limit: limit, after: cursor, isPreview: isPreview)
        // A ranker that returns the cursor of the request has ended: clients would otherwise never reach an end.
        if skeleton.cursor == cursor { skeleton.cursor = nil }
        skeleton.items.removeLast(max(0, skeleton.items.count - limit))
        return skeleton
    }

    func lastSkeleton(for context: FeedContext) -> FeedSkeleton? { last.withLock { $0[Self.key(context)] } }

    func remember(_ skeleton: FeedSkeleton, for context: FeedContext) { last.withLock { $0[Self.key(context)] = skeleton } }

    func forget(_ viewer: String) {
        let viewer = ByteString(viewer)
        last.withLock { last in last.removeAll { context, _ in context.viewer.map { ByteString($0) } == viewer } }
    }

    /// A viewer keeps the skeleton if the attributes or the language change. Requests without a viewer differ in nothing else.
    private static func key(_ context: FeedContext) -> FeedContext {
        context.viewer == nil ? context : FeedContext(viewer: context.viewer, filters: context.filters)
    }
}

/// The part of a ranked feed's cursor: the ranker's own cursor, and the items that the session has shown.
struct RankedPosition: Hashable {
    /// The number of items of a session. Why: each item takes 3 bytes of the cursor, which is part of a URL.
    static let sessionLimit = 600
    static let longestCursor = 1_024

    /// The ranker's cursor; nil if the session continues in the feed's own order.
    var cursor: String?
    var shown: [UInt32] = []

    init(after cursor: String?, shown: [UInt32]) { (self.cursor, self.shown) = (cursor, shown) }

    /// It is equal in all processes, because replicas read each other's cursors. With 24 bits, one of 90 full sessions lacks an item.
    static func digest(of cell: some Sequence<UInt8>) -> UInt32 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in cell { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return UInt32(truncatingIfNeeded: (hash ^ hash >> 32) & 0xFF_FFFF)
    }

    func write(to writer: inout ByteWriter) {
        let text = Array((cursor ?? "").utf8)
        writer.write(UInt8(cursor == nil ? 0 : 1))
        writer.write(UInt16(text.count))
        writer.write(text[...])
        writer.write(UInt16(shown.count))
        for digest in shown { writer.write([UInt8(digest >> 16), UInt8(digest >> 8 & 0xFF), UInt8(digest & 0xFF)][...]) }
    }

    init?(_ reader: inout ByteReader) {
        guard let mode = reader.readByte(), mode < 2, let length = reader.readUInt16(), let text = reader.readBytes(Int(length)),
            let count = reader.readUInt16(), let digests = reader.readBytes(3 * Int(count))
        else { return nil }
        cursor = mode == 0 ? nil : String(decoding: text, as: UTF8.self)
        let bytes = Array(digests)
        shown = (0..<Int(count)).map { UInt32(bytes[3 * $0]) << 16 | UInt32(bytes[3 * $0 + 1]) << 8 | UInt32(bytes[3 * $0 + 2]) }
    }
}

struct RankedContent {
    var items: [FeedSkeleton.Item]
    /// The number of items on the earlier pages of the session.
    var start: Int64
    var continues: Bool

    var reasons: [ByteString: String] {
        Dictionary(items.lazy.compactMap { item in item.reason.map { (ByteString(item.cell), $0) } }) { first, _ in first }
    }

    /// Reads the items. It omits what does not exist, what the filter of the request excludes, what the viewer has dismissed, ads, and what
    /// the client cannot show.
    func read(for session: PageSession, _ factories: CellFactories) throws -> PageContent {
        let ads = Set(factories.kinds(in: .advertisements))
        var renderer = session.renderer()
        var cells: [CellRenderer.PlacedCell] = []
        for entry in items where cells.count < session.request.limit {
            guard let name = factories.item(ofCell: entry.cell), !ads.contains(name.kind),
                var item = try session.snapshot.item(kind: name.kind, id: name.id), session.filter?.matches(item) ?? true
            else { continue }
            (item.position, item.sortKey) = (start + Int64(cells.count) + 1, nil)
            if let cell = try renderer.cell(of: item) { cells.append(cell) }
        }
        return PageContent(ranked: cells, omissions: renderer.omissions, continues: continues)
    }
}
