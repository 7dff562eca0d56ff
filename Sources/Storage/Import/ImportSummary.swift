/// How far an import is, and at its end, what it did.
public struct ImportSummary: Sendable, Hashable {
    /// Bytes read, of all files.
    public var bytes = 0
    public var added = 0
    public var replaced = 0
    public var skipped = 0

    /// Items read, whatever became of them.
    public var items: Int { added + replaced + skipped }

    public init() {}
}
