internal import Glibc

/// An item as it lies in the store: its bytes, valid only inside the call that is given them.
///
/// Most items of a page have been met before, and all there is to do then is to compare. Nothing is copied for that.
public struct ItemRow {
    public let kind: UnsafeRawBufferPointer
    public let id: UnsafeRawBufferPointer
    public let variant: UnsafeRawBufferPointer
    public let position: Int64
    public let sortKey: SortKey?
    public let body: UnsafeRawBufferPointer

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

    public var place: ItemPlace { ItemPlace(key: sortKey, position: position) }

    /// The item, copied.
    public var item: FeedItem {
        FeedItem(
            kind: String(decoding: kind, as: UTF8.self), id: String(decoding: id, as: UTF8.self),
            variant: String(decoding: variant, as: UTF8.self), position: position, sortKey: sortKey, body: Array(body))
    }

    /// Whether an item has the same bytes; it may stand somewhere else.
    func isSame(as item: FeedItem) -> Bool {
        item.id.hasBytes(id) && item.kind.hasBytes(kind) && item.variant.hasBytes(variant)
            && item.body.withUnsafeBytes { $0.isSame(as: body) }
    }
}

extension FeedItem {
    /// The item as a row, for as long as the call lasts.
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

extension String {
    fileprivate func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        utf8.withContiguousStorageIfAvailable { UnsafeRawBufferPointer($0).isSame(as: bytes) } ?? utf8.elementsEqual(bytes)
    }
}
