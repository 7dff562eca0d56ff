/// The value by which an item is ordered in its section, where that is a field. Numbers come before texts.
public enum SortKey: Sendable, Hashable {
    case number(Double)
    /// UTF-8, compared byte by byte, which is the order of code points. Cursors carry it, so it is to be short: ``SortField/textLimit``.
    case text([UInt8])
}

extension SortKey: Comparable {
    public static func < (first: SortKey, second: SortKey) -> Bool {
        switch (first, second) {
        case (.number(let first), .number(let second)): first < second
        case (.number, .text): true
        case (.text, .number): false
        case (.text(let first), .text(let second)): first.lexicographicallyPrecedes(second)
        }
    }
}
