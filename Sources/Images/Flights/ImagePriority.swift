/// How soon a picture is wanted. A flight has the priority of its most urgent waiter.
public enum ImagePriority: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Nobody looks yet; first to be shed.
    case prefetch
    /// About to come into view.
    case near
    /// In view.
    case visible

    public static func < (left: ImagePriority, right: ImagePriority) -> Bool { left.rawValue < right.rawValue }
}
