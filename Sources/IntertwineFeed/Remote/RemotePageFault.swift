/// Why the bytes of a page are not a document with a list of items in it.
public struct RemotePageFault: Error, Sendable, Hashable, CustomStringConvertible {
    public var reason: String
    /// How many bytes into the page.
    public var offset: Int
    /// Whether the document is one, and the list is not where it should be.
    public var isOfPlace = false

    public var description: String { "byte \(offset): \(reason)" }
}
