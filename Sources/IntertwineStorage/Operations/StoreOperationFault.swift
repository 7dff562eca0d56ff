import IntertwineFeed

/// Why a list of operations was not done: none of it was.
public struct StoreOperationFault: Error, Sendable, Hashable {
    public enum Reason: Error, Sendable, Hashable {
        /// There is no such item.
        case unknown(ItemKey)
        /// The item is there already.
        case known(ItemKey)
        /// An item cannot stand next to itself.
        case besideItself(ItemKey)
        /// The two items do not belong to the same section.
        case elsewhere(ItemKey, than: ItemKey)
        /// The section of the item is ordered by a field, so nothing else can move it.
        case ordered(ItemKey, by: String)
        case unknownSection(String)
        /// There are more operations than ``SQLiteStore/operationLimit``.
        case tooMany
    }

    /// Which operation of the list could not be done, counted from 0.
    public var index: Int
    public var reason: Reason

    public init(index: Int, reason: Reason) {
        self.index = index
        self.reason = reason
    }
}

extension StoreOperationFault.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let key): "there is no \(key)"
        case .known(let key): "\(key) is there already"
        case .besideItself(let key): "\(key) cannot stand next to itself"
        case .elsewhere(let key, let other): "\(key) does not belong where \(other) stands"
        case .ordered(let key, let field): "\(key) stands where its \(ItemFault.shown(field)) puts it; update that to move it"
        case .unknownSection(let name): "there is no section \"\(ItemFault.shown(name))\""
        case .tooMany: "there are more than \(SQLiteStore.operationLimit) operations"
        }
    }
}
