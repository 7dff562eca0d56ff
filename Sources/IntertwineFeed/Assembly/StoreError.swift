/// What a store or a ledger can fail with. The text is for operators and their logs; clients are told the status alone.
public enum StoreError: Error, Sendable, Hashable {
    /// Cannot answer now (locked, disk full, file gone) but may later: 503 over HTTP.
    case unavailable(String)
    /// More is waiting than the configured bound: 503 with Retry-After over HTTP.
    case overloaded
    /// The file is no database of ours, is damaged, or is of a newer version: the start fails with this line.
    case unusable(String)
}

extension StoreError: CustomStringConvertible {
    /// One line for operators.
    public var description: String {
        switch self {
        case .unavailable(let reason), .unusable(let reason): reason
        case .overloaded: "too much is waiting for the disk"
        }
    }
}
