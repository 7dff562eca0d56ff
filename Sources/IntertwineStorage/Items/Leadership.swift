/// Whether it is this process that does what one of all those with the same store has to do, such as asking remote sources.
package protocol Leadership: Sendable {
    /// To be asked each time before it is done: another process may have taken it over.
    func isLeading() async -> Bool
}

/// For a store that one process has to itself, or whose processes do not know of each other.
package struct SoleLeadership: Leadership {
    package init() {}

    package func isLeading() -> Bool { true }
}
