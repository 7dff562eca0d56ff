/// A page as a client holds it, packed into the text that it asks for changes with: what the page was asked for with, and its cells.
///
/// The service keeps nothing of it, so it works whichever process made the page, and after a restart too. It is not signed: whoever alters
/// it asks about a page of their own making, and is told no more than the feed itself tells. The cursor in it is signed as ever.
struct HeldPage: Hashable {
    /// ``FeedPlace/digest`` of the places that the pages before and after a page are read from; 0 where there is no such page.
    struct Edges: Hashable {
        var before: UInt64 = 0
        var after: UInt64 = 0
    }

    private static let format: UInt8 = 2
    /// Characters of a text. Pages that would need more cannot be asked about: a few of them would not fit into a request's line.
    static let textLimit = 6_144

    /// ``PageCursor/digest(ofFeed:)`` of the feed.
    var feed: UInt64
    /// As it stands in the page's address; nil for the first page.
    var cursor: String?
    var limit: Int
    var layout: CellLayout
    var width: Int?
    var edges: Edges
    var cells: [HeldCell]

    /// Nil where it would be longer than ``textLimit``.
    var text: String? {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(feed)
        writer.write(UInt8(clamping: limit))
        writer.write(UInt8(CellLayout.allCases.firstIndex(of: layout) ?? 0))
        writer.write(varying: width ?? 0)
        writer.write(digest: edges.before)
        writer.write(digest: edges.after)
        writer.write(counted: cursor.flatMap { Base64URL.decode($0.utf8) } ?? [])
        var last: [UInt8] = []
        for cell in cells {
            // Ids of one page begin alike.
            let id = Array(cell.id.utf8)
            let shared = zip(last, id).prefix { $0 == $1 }.count
            writer.write(varying: shared)
            writer.write(counted: id.dropFirst(shared))
            writer.write(digest: cell.digest)
            last = id
        }
        guard writer.bytes.count <= Self.textLimit / 4 * 3 else { return nil }
        return Base64URL.encode(writer.bytes)
    }

    /// Nil for what ``text`` cannot have made, and for the text of another version.
    init?(text: some StringProtocol) {
        guard text.utf8.count <= Self.textLimit, let bytes = Base64URL.decode(text.utf8) else { return nil }
        var reader = ByteReader(bytes)
        guard reader.readByte() == Self.format, let feed = reader.readUInt64(), let limit = reader.readByte(),
            let layout = reader.readByte(),
            let width = reader.readVarying(), let before = reader.readDigest(), let after = reader.readDigest(),
            let cursor = reader.readCounted(),
            FeedRequest.limits.contains(Int(limit)), CellLayout.allCases.indices.contains(Int(layout)),
            width == 0 || SizeRule.widths.contains(width)
        else { return nil }
        var cells: [HeldCell] = []
        var last: [UInt8] = []
        while !reader.remaining.isEmpty {
            guard let shared = reader.readVarying(), shared <= last.count, let rest = reader.readCounted(),
                let digest = reader.readDigest(),
                let id = String(validating: last.prefix(shared) + rest, as: UTF8.self)
            else { return nil }
            last = Array(id.utf8)
            cells.append(HeldCell(id: id, digest: digest))
        }
        self.feed = feed
        self.cursor = cursor.isEmpty ? nil : Base64URL.encode(Array(cursor))
        self.limit = Int(limit)
        self.layout = CellLayout.allCases[Int(layout)]
        self.width = width == 0 ? nil : width
        edges = Edges(before: before, after: after)
        self.cells = cells
    }

    init(
        feed: UInt64, cursor: String?, limit: Int, layout: CellLayout, width: Int?, edges: Edges = Edges(),
        cells: [HeldCell]
    ) {
        self.feed = feed
        self.cursor = cursor
        self.limit = limit
        self.layout = layout
        self.width = width
        self.edges = edges
        self.cells = cells
    }
}

extension ByteWriter {
    /// Seven bits a byte, the lowest first; the highest bit says that more follow.
    fileprivate mutating func write(varying value: Int) {
        var rest = UInt(clamping: value)
        while rest > 0x7F {
            write(UInt8(rest & 0x7F | 0x80))
            rest >>= 7
        }
        write(UInt8(rest))
    }

    fileprivate mutating func write(counted bytes: some Collection<UInt8>) {
        write(varying: bytes.count)
        for byte in bytes { write(byte) }
    }

    fileprivate mutating func write(digest: UInt64) {
        for index in (0..<HeldCell.digestLength).reversed() { write(UInt8(truncatingIfNeeded: digest >> (UInt64(index) * 8))) }
    }
}

extension ByteReader {
    /// Nil for what takes more than 21 bits: nothing that is counted here is that long.
    fileprivate mutating func readVarying() -> Int? {
        var value = 0
        for shift in stride(from: 0, to: 21, by: 7) {
            guard let byte = readByte() else { return nil }
            value |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    fileprivate mutating func readCounted() -> ArraySlice<UInt8>? {
        guard let count = readVarying(), count <= remaining.count else { return nil }
        let bytes = remaining.prefix(count)
        for _ in 0..<count { _ = readByte() }
        return bytes
    }

    fileprivate mutating func readDigest() -> UInt64? {
        guard remaining.count >= HeldCell.digestLength else { return nil }
        var digest: UInt64 = 0
        for _ in 0..<HeldCell.digestLength { digest = digest << 8 | UInt64(readByte() ?? 0) }
        return digest
    }
}
