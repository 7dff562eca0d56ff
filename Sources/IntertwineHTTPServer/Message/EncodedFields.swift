public import HTTPTypes

/// Response fields that are encoded once and appended to any number of heads.
///
/// ```swift
/// let fields = EncodedFields([.strictTransportSecurity: "max-age=31536000"])
/// let result = HandlerResult.respond(ServerResponse(body: "Hello")).adding(fields)
/// ```
public struct EncodedFields: Sendable {
    let fields: HTTPFields
    let lines: [UInt8]
    /// They join those of the response in one line, because some caches read only one.
    let vary: [UInt8]

    /// Encodes the fields.
    ///
    /// - Parameter fields: The fields. Fields that the server writes itself are left out.
    public init(_ fields: HTTPFields) {
        self.fields = fields
        lines = HeadEncoder.lines(of: fields)
        vary = HeadEncoder.vary(fields[values: .vary])
    }

    static func + (first: EncodedFields, second: EncodedFields) -> EncodedFields {
        var fields = first.fields
        fields.append(contentsOf: second.fields)
        return EncodedFields(fields)
    }
}
