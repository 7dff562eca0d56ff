/// Why a factory cannot be registered, or no cell can be made.
public enum CellFactoryError: Error, Sendable, Hashable {
    /// Nothing is registered for this form of item: it is stored, and stays out of the feed.
    case noFactory(ItemForm)
    case registeredTwice(ItemForm)
    /// Another kind has this prefix, or the kind has another one.
    case prefixTaken(String)
    /// The prefix is empty or holds a colon.
    case unusablePrefix(String)
    /// Forms of one kind were registered for both lanes.
    case laneContradicted(String)
}

extension CellFactoryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noFactory(let form): "no factory for \(form.kind)/\(form.variant)"
        case .registeredTwice(let form): "two factories for \(form.kind)/\(form.variant)"
        case .prefixTaken(let prefix): "the cell id prefix '\(prefix)' contradicts an earlier registration"
        case .unusablePrefix(let prefix): "'\(prefix)' cannot be a cell id prefix"
        case .laneContradicted(let kind): "the forms of \(kind) are registered for both content and advertisements"
        }
    }
}
