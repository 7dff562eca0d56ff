package import IntertwineFeed

/// A complete list of a source's items, which is collected privately and then applied to the store in one transaction.
///
/// Not `Sendable`: one caller at a time, and its calls block. All stores have the behaviour that `SourceSnapshot` documents.
package protocol SourceCollection: AnyObject {
    /// The number of collected items.
    var count: Int { get }

    func add(_ items: [ValidatedItem]) throws -> [Int]

    func apply(removing share: Double, step: (Int) throws -> Void) throws -> SourceChanges

    func isInStep() throws -> Bool

    func discard()
}

/// The result of applying a snapshot.
///
/// ```swift
/// var changes = SourceChanges()
/// changes.added = 2
/// changes.isEmpty  // false
/// ```
package struct SourceChanges: Sendable, Hashable {
    /// The number of items that the store did not contain.
    package var added = 0
    /// The number of items replaced in place.
    package var changed = 0
    /// The number of items that the source no longer lists and that were removed.
    package var removed = 0
    /// The number of listed items that the store contained with equal content.
    package var unchanged = 0
    /// The number of items that the source no longer lists, and that remain because of another origin or a later change.
    package var released = 0

    /// Listed items that were skipped because they are taken down.
    package var withheld = BlockedItems()

    /// A Boolean value indicating whether no item of the store, and no record of origin, was changed.
    package var isEmpty: Bool { added == 0 && changed == 0 && removed == 0 && released == 0 }

    /// Creates the result of a snapshot without changes.
    package init() {}
}

/// The reason why a complete snapshot is not applied.
///
/// ```swift
/// if case .tooManyRemovals(let removed, let stored, _) = rejection {
///     print("\(removed) of \(stored) items are missing")
/// }
/// ```
package enum SnapshotRejection: Error, Sendable, Hashable, CustomStringConvertible {
    /// The snapshot has no items.
    case empty
    /// The snapshot lacks too many items that the source has stored before.
    case tooManyRemovals(Int, of: Int, share: Double)

    /// The store would exceed its limit of campaigns.
    case tooManyCampaigns(Int, limit: Int)
    /// The source is being synchronized elsewhere.
    case busy(String)

    /// The reason as one line for operators.
    package var description: String {
        switch self {
        case .empty: "the list is empty, which would remove all items of the source; `removable: 1` in its declaration allows that"
        case .tooManyCampaigns(let count, let limit): "there would be \(count) campaigns; the limit is \(limit)"
        case .busy(let source): "the source \(source) is already being synchronized, by the service or by another `intertwine sync`"
        case .tooManyRemovals(let gone, let all, let share):
            "\(gone) of \(all) items would be removed, more than the share of \(share) that may be removed at once; a greater `removable` in its declaration allows more"
        }
    }
}

/// A digest of an item's content: FNV-1a, 64 bits. It does not protect secrets, and does not prevent forgery.
package struct ItemDigest {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init(variant: String, body: [UInt8]) {
        for byte in variant.utf8 { add(byte) }
        // A byte that is not part of UTF-8 separates the variant from the body.
        add(0xFF)
        for byte in body { add(byte) }
    }

    private mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    /// The digest as an integer column stores it.
    package var stored: Int64 { Int64(bitPattern: value) }
}
