/// A response as it came over the wire.
public struct RawResponse: Sendable {
    public let status: Int
    public let reason: String
    public let fields: [(name: String, value: String)]
    public let body: [UInt8]
    /// The body was delimited by the end of the connection.
    public let endsWithConnection: Bool

    /// The value of a field, several joined in order; nil where there is none. The name's case does not matter.
    public subscript(name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    public var text: String { String(decoding: body, as: UTF8.self) }

    public var closes: Bool { self["connection"]?.lowercased() == "close" }
}
