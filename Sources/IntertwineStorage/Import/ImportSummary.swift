/// How far an import is, and at its end, what it did.
public struct ImportSummary: Sendable, Hashable {
    /// Bytes read, of all files.
    public var bytes = 0
    public var added = 0
    public var replaced = 0
    public var skipped = 0
    /// Left out because they were taken down (``Takedown``).
    public var withheld = Withheld()
    /// The first good items, up to ``firstLimit`` of them.
    public var first: [ItemKey] = []

    public static let firstLimit = 100

    /// Items read, whatever became of them.
    public var items: Int { added + replaced + skipped + withheld.count }

    public init() {}
}
