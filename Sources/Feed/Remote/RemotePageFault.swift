/// Why the bytes of a page are not a document with a list of items in it.
public struct RemotePageFault: Error, Sendable, Hashable, CustomStringConvertible {
    public var reason: String
    /// How many bytes into the page.
    public var offset: Int

    public var description: String { "byte \(offset): \(reason)" }
}
