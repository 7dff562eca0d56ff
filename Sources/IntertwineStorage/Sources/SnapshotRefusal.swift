/// Why a complete snapshot is not applied.
public enum SnapshotRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// It holds no item at all.
    case empty
    /// It lacks more of the items that the source brought before than may go at once.
    case tooManyGone(Int, of: Int, share: Double)

    /// The source of that name is being synchronised elsewhere.
    case busy(String)

    public var description: String {
        switch self {
        case .empty: "the list is empty, and nothing of the source would be left; `removable: 1` in its declaration allows that"
        case .busy(let source): "the source \(source) is being synchronised already, by the service or by another `intertwine sync`"
        case .tooManyGone(let gone, let all, let share):
            "\(gone) of \(all) items would be removed, more than the share of \(share) that may go at once; a greater `removable` in its declaration allows more"
        }
    }
}
