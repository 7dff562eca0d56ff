internal import IntertwinePrimitives

/// The state of a page in a client, encoded as its sync token: the page's parameters and its cells.
/// The service stores none of it, so it works with every replica and after a restart. It is not signed. Why: an altered state only
/// describes another page, and the response contains nothing that the feed does not show. Its cursor is signed.
struct ClientPageState: Hashable {
    /// The ``FeedPosition/digest`` of the positions from which the adjacent pages are read; 0 if such a page does not exist.
    struct Edges: Hashable {
        var before: UInt64 = 0
        var after: UInt64 = 0
    }

    private static let format: UInt8 = 5
    /// Larger pages cannot request changes, because a few of them would exceed a request line.
    private static let textLimit = 6_144

    var feed: UInt64
    var cursor: String?
    var limit: Int
    var layout: CellLayout
    var width: Int?
    var scale = 1
    var hour: UInt32 = 0
    var moment: Int64 = 0
    var edges = Edges()
    var cells: [ClientCell]
    var filters: [String: [String]] = [:]

    /// The encoded state; nil if it would be longer than ``textLimit``.
    var text: String? {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(feed)
        writer.write(UInt8(clamping: limit))
        writer.write(UInt8(CellLayout.allCases.firstIndex(of: layout) ?? 0) | UInt8(clamping: scale - 1) << 4)
        writer.write(varying: width ?? 0)
        writer.write(hour)
        writer.write(moment)
        writer.write(edges.before, count: ClientCell.digestLength)
        writer.write(edges.after, count: ClientCell.digestLength)
        writer.write(counted: cursor.flatMap { Base64URL.decode($0.utf8) } ?? [])
        writer.write(varying: filters.count)
        for (name, values) in filters.sorted(by: { $0.key < $1.key }) {
            writer.write(counted: Array(name.utf8))
            writer.write(varying: values.count)
            for value in values { writer.write(counted: Array(value.utf8)) }
        }
        var last: [UInt8] = []
        for cell in cells {
            // The ids of one page have common prefixes.
            let id = Array(cell.id.utf8)
            let shared = zip(last, id).prefix { $0 == $1 }.count
            writer.write(varying: shared)
            writer.write(counted: id.dropFirst(shared))
            writer.write(cell.digest, count: ClientCell.digestLength)
            last = id
        }
        guard writer.bytes.count <= Self.textLimit / 4 * 3 else { return nil }
        return Base64URL.encode(writer.bytes)
    }

}

extension ClientPageState {
    init?(text: some StringProtocol) {
        guard text.utf8.count <= Self.textLimit, let bytes = Base64URL.decode(text.utf8) else { return nil }
        var reader = ByteReader(bytes)
        guard reader.readByte() == Self.format, let feed = reader.readUInt64(), let limit = reader.readByte(),
            let form = reader.readByte(),
            let width = reader.readVarying(), let hour = reader.readUInt32(), let moment = reader.readInt64(),
            let before = reader.readNumber(ClientCell.digestLength),
            let after = reader.readNumber(ClientCell.digestLength),
            let cursor = reader.readCounted(), let filterCount = reader.readVarying(),
            FeedRequest.limits.contains(Int(limit)), CellLayout.allCases.indices.contains(Int(form & 0x0f)),
            FeedRequest.scales.contains(Int(form >> 4) + 1),
            width == 0 || SizeRule.widths.contains(width)
        else { return nil }
        guard filterCount <= ItemFilter.countLimit else { return nil }
        for _ in 0..<filterCount {
            guard let name = reader.readCounted(), let count = reader.readVarying(), (1...ItemFilter.valueLimit).contains(Int(count)) else {
                return nil
            }
            var values: [String] = []
            for _ in 0..<count {
                guard let value = reader.readCounted() else { return nil }
                values.append(String(decoding: value, as: UTF8.self))
            }
            guard filters.updateValue(values, forKey: String(decoding: name, as: UTF8.self)) == nil else { return nil }
        }
        var cells: [ClientCell] = []
        var last: [UInt8] = []
        while !reader.remaining.isEmpty {
            guard let shared = reader.readVarying(), shared <= last.count, let rest = reader.readCounted(),
                let digest = reader.readNumber(ClientCell.digestLength),
                let id = String(validating: last.prefix(shared) + rest, as: UTF8.self)
            else { return nil }
            last = Array(id.utf8)
            cells.append(ClientCell(id: id, digest: digest))
        }
        self.feed = feed
        self.cursor = cursor.isEmpty ? nil : Base64URL.encode(cursor)
        self.limit = Int(limit)
        layout = CellLayout.allCases[Int(form & 0x0f)]
        scale = Int(form >> 4) + 1
        self.width = width == 0 ? nil : width
        self.hour = hour
        self.moment = moment
        edges = Edges(before: before, after: after)
        self.cells = cells
    }
}

package struct ClientCell: Sendable, Hashable {
    fileprivate static let digestLength = 6

    package var id: String
    package var digest: UInt64

    package init(id: String, digest: UInt64) {
        self.id = id
        self.digest = digest
    }

    init(_ entry: FeedPage.Entry) {
        id = entry.id
        digest = UInt64(bigEndianBytes: SHA256.hash(data: entry.json).prefix(Self.digestLength))
    }
}

extension FeedPosition {
    var digest: UInt64 {
        var writer = ByteWriter()
        write(to: &writer, isLong: true)
        return UInt64(bigEndianBytes: SHA256.hash(data: writer.bytes).prefix(ClientCell.digestLength))
    }
}
