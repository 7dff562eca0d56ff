/// Why a declaration is no kind: where in it, and what is wrong and what is allowed.
public struct KindFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Names and indices from the declaration's top, such as `cells`, `table`, `0`, `identifier`.
    public var path: [String]
    public var reason: String

    public init(_ path: [String], _ reason: String) {
        self.path = path
        self.reason = reason
    }

    public var description: String {
        path.isEmpty ? reason : "\(path.joined(separator: ".")): \(reason)"
    }
}
