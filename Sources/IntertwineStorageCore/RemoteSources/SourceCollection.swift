package import IntertwineFeed

/// A complete list of a source's items, which is collected privately and then applied to the store in one transaction.
/// Not `Sendable`: one caller at a time, and its calls block.
package protocol SourceCollection: AnyObject {
    var count: Int { get }

    func add(_ items: [ValidatedItem]) throws -> [Int]

    func apply(removing share: Double, step: (Int) throws -> Void) throws -> SourceChanges

    func isInStep() throws -> Bool

    func discard()
}

package struct SourceChanges: Sendable, Hashable {
    package var added = 0
    package var changed = 0
    package var removed = 0
    package var unchanged = 0
    /// The number of items that the source no longer lists, and that remain because of another origin or a later change.
    package var released = 0

    /// Listed items that were skipped because they are taken down.
    package var withheld = BlockedItems()

    package var isEmpty: Bool { added == 0 && changed == 0 && removed == 0 && released == 0 }

    package init() {}
}

package enum SnapshotRejection: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case tooManyRemovals(Int, of: Int, share: Double)

    /// The store would exceed its limit of campaigns.
    case tooManyCampaigns(Int, limit: Int)
    case busy(String)

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

    package var stored: Int64 { Int64(bitPattern: value) }
}
