public import HTTPTypes

/// Response fields that are encoded once and appended to any number of heads.
public struct EncodedFields: Sendable {
    let bytes: [UInt8]

    /// Encodes the fields.
    ///
    /// - Parameter fields: The fields. Fields that the server writes itself are left out, as is `Vary`, which heads have on one line.
    public init(_ fields: HTTPFields) {
        bytes = HeadEncoder.encoded(fields)
    }
}
