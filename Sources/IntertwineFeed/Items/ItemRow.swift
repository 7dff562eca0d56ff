internal import Glibc

/// The bytes of an item in the store; valid only inside the call that receives them.
///
/// Most items of a page are cached and only have to be compared. Why: a comparison needs no copy.
public struct ItemRow {
    /// The kind, as UTF-8.
    public let kind: UnsafeRawBufferPointer
    /// The id, as UTF-8.
    public let id: UnsafeRawBufferPointer
    /// The variant, as UTF-8.
    public let variant: UnsafeRawBufferPointer
    /// The position of the item in its stream.
    public let position: Int64
    /// The sort key; nil if the item was not read in the order of a field.
    public let sortKey: SortKey?
    /// The fields as one JSON object, as UTF-8.
    public let body: UnsafeRawBufferPointer

    /// Creates a row from buffers, which must stay valid for as long as the row is used.
    public init(
        kind: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer, variant: UnsafeRawBufferPointer, position: Int64, sortKey: SortKey? = nil,
        body: UnsafeRawBufferPointer
    ) {
        self.kind = kind
        self.id = id
        self.variant = variant
        self.position = position
        self.sortKey = sortKey
        self.body = body
    }

    /// The position in a section that is ordered by the sort key, if any.
    public var sortPosition: SortPosition { SortPosition(key: sortKey, position: position) }

    package var type: ItemType { ItemType(kind: String(decoding: kind, as: UTF8.self), variant: String(decoding: variant, as: UTF8.self)) }

    /// The item, as a copy.
    ///
    /// ```swift
    /// var items: [FeedItem] = []
    /// try snapshot.visit(RowQuery(.stream(.content), limit: 20)) { row in items.append(row.item) }
    /// ```
    public var item: FeedItem {
        FeedItem(
            kind: String(decoding: kind, as: UTF8.self), id: String(decoding: id, as: UTF8.self),
            variant: String(decoding: variant, as: UTF8.self), position: position, sortKey: sortKey, body: Array(body))
    }

    package func isSame(as other: ItemRow) -> Bool {
        id.isSame(as: other.id) && kind.isSame(as: other.kind) && variant.isSame(as: other.variant) && body.isSame(as: other.body)
    }
}

/// The layout of an item's bytes, part after part, in a buffer with further data after them.
struct RowLayout: Sendable {
    @usableFromInline let sortPosition: SortPosition
    /// They are 32-bit, because each page reads them for each cell, and no item is larger.
    @usableFromInline let (kindEnd, idEnd, variantEnd, bodyEnd): (Int32, Int32, Int32, Int32)
    @inlinable var end: Int { Int(bodyEnd) }

    /// Returns the item's bytes followed by further data, in a buffer of exactly that size, since it may be cached for long.
    func bytes(of item: FeedItem, with rest: [UInt8]) -> [UInt8] {
        item.withRow { row in
            [UInt8](unsafeUninitializedCapacity: end + rest.count) { memory, count in
                let memory = UnsafeMutableRawBufferPointer(memory)
                func append(_ part: UnsafeRawBufferPointer) {
                    UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: part)
                    count += part.count
                }
                append(row.kind)
                append(row.id)
                append(row.variant)
                append(row.body)
                rest.withUnsafeBytes(append)
            }
        }
    }

    func range(of text: String, inBodyOf item: FeedItem) -> Range<Int>? {
        var text = text
        return text.withUTF8 { text in
            item.body.withUnsafeBufferPointer { body in
                guard let first = text.first, let wanted = text.baseAddress, let bytes = body.baseAddress else { return nil }
                var offset = 0
                while body.count - offset >= text.count,
                    let found = memchr(bytes + offset, Int32(first), body.count - offset - text.count + 1)
                {
                    offset = UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
                    if memcmp(bytes + offset, wanted, text.count) == 0 {
                        return Int(variantEnd) + offset..<Int(variantEnd) + offset + text.count
                    }
                    offset += 1
                }
                return nil
            }
        }
    }

    init(_ item: FeedItem) {
        sortPosition = item.sortPosition
        let kind = item.kind.utf8.count
        let id = kind + item.id.utf8.count
        let variant = id + item.variant.utf8.count
        (kindEnd, idEnd, variantEnd, bodyEnd) = (Int32(kind), Int32(id), Int32(variant), Int32(variant + item.body.count))
    }

    @inlinable func row(in memory: UnsafeRawBufferPointer) -> ItemRow {
        func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[range]) }
        let (kind, id, variant) = (Int(kindEnd), Int(idEnd), Int(variantEnd))
        return ItemRow(
            kind: part(0..<kind), id: part(kind..<id), variant: part(id..<variant), position: sortPosition.position,
            sortKey: sortPosition.key,
            body: part(variant..<end))
    }
}

extension FeedItem {
    /// Calls `body` with the item as a row, which is valid during the call.
    ///
    /// ```swift
    /// let item = FeedItem(kind: "note", id: "1", variant: "plain", position: 1, body: Array("{}".utf8))
    /// let count = item.withRow { row in row.body.count }  // 2
    /// ```
    public func withRow<Value>(_ body: (ItemRow) throws -> Value) rethrows -> Value {
        var (kind, id, variant) = (kind, id, variant)
        return try kind.withUTF8 { kind in
            try id.withUTF8 { id in
                try variant.withUTF8 { variant in
                    try self.body.withUnsafeBytes { bytes in
                        try body(
                            ItemRow(
                                kind: UnsafeRawBufferPointer(kind), id: UnsafeRawBufferPointer(id),
                                variant: UnsafeRawBufferPointer(variant), position: position, sortKey: sortKey, body: bytes))
                    }
                }
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let one = baseAddress, let two = other.baseAddress else { return isEmpty && other.isEmpty }
        return memcmp(one, two, count) == 0
    }
}
