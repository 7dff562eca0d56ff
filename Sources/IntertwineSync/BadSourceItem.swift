public import IntertwineFeed

/// An item of a source that is not valid.
public struct BadSourceItem: Sendable, Hashable, CustomStringConvertible {
    /// From 1.
    public var page: Int
    /// Its number on the page, from 1.
    public var number: Int
    public var fault: ItemFault

    public var description: String { "page \(page), item \(number): \(fault)" }
}
