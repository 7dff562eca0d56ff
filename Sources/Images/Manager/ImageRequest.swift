public import FoundationEssentials

/// One client's wish for one picture.
public struct ImageRequest: Sendable {
    /// As ``ImageURLSigner/verify(_:now:)`` gives it.
    public var source: String
    /// The name under which it can be cancelled and reprioritised.
    public var id: UUID?
    public var priority: ImagePriority

    public init(_ source: String, id: UUID? = nil, priority: ImagePriority = .visible) {
        self.source = source
        self.id = id
        self.priority = priority
    }
}
