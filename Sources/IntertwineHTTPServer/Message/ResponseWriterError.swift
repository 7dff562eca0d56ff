/// A streamed body that is not what was announced.
public enum ResponseWriterError: Error, Hashable, Sendable {
    /// More bytes than the stated length.
    case tooLong
}
