/// What a ``RawClient`` can run into.
public enum RawClientError: Error, Hashable, CustomStringConvertible {
    case system(String, Int32)
    case timedOut
    case closed
    case malformed(String)
    case lint([String])

    public var description: String {
        switch self {
        case .system(let call, let number): "\(call): errno \(number)"
        case .timedOut: "nothing came in time"
        case .closed: "the server closed the connection"
        case .malformed(let reason): "not a response: \(reason)"
        case .lint(let findings): "breaks the rules: \(findings.joined(separator: "; "))"
        }
    }
}
