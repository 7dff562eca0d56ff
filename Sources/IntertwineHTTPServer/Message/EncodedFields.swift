public import HTTPTypes

/// Fields of a response's head, encoded once to be appended to any number of heads.
public struct EncodedFields: Sendable {
    let bytes: [UInt8]

    /// - Parameter fields: what the server writes itself is left out, as is `Vary`, which heads have on one line.
    public init(_ fields: HTTPFields) {
        bytes = HeadEncoder.encoded(fields)
    }
}
