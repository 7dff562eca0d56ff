/// What applying a snapshot did.
public struct SourceChanges: Sendable, Hashable {
    public var added = 0
    /// Replaced in place.
    public var changed = 0
    public var removed = 0
    public var unchanged = 0
    /// Gone from the source, and left where they are: they came from elsewhere too, or were changed since.
    public var released = 0

    /// Listed by the source, and left out.
    public var withheld = Withheld()

    /// Whether any item of the store, or the word on where it came from, was changed.
    public var isEmpty: Bool { added == 0 && changed == 0 && removed == 0 && released == 0 }

    public init() {}
}
