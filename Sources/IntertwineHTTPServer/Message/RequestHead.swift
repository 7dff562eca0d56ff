/// A view of a request's head where it lies in the receive buffer: nothing is copied, nothing is allocated.
///
/// It can not be kept: whoever needs more than this call takes the ``HTTPHandler``'s slower faces.
public struct RequestHead: ~Copyable {
    let parser: HeadParser
    let bytes: UnsafeBufferPointer<UInt8>
    let target: ByteView
    /// The request's method.
    public let method: RequestMethod

    init(parser: HeadParser, bytes: UnsafeBufferPointer<UInt8>, method: RequestMethod, target: ByteView) {
        self.parser = parser
        self.bytes = bytes
        self.method = method
        self.target = target
    }

    /// Whether path and query are exactly these bytes.
    public func hasTarget(_ expected: StaticString) -> Bool { target.isEqual(expected) }

    /// Whether path and query are exactly these bytes.
    public func hasTarget(_ expected: [UInt8]) -> Bool { target.isEqual(expected) }

    /// A hash of path and query (FNV-1a), for looking up finished answers. Not safe against collisions on purpose: compare
    /// the target too.
    public var targetHash: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in target.bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    /// Calls `body` with the value of the first field of this name, trimmed; nil where there is none.
    ///
    /// - Parameter name: in lower case.
    public func withField<Result>(_ name: StaticString, _ body: (Span<UInt8>) -> Result) -> Result? {
        for field in parser.fields {
            let own = ByteView(bytes, Int(field.name.lowerBound)..<Int(field.name.upperBound))
            if own.isEqualIgnoringCase(name) { return body(parser.value(field, in: bytes).bytes.span) }
        }
        return nil
    }

    /// Whether a field of this name (in lower case) is there.
    public func hasField(_ name: StaticString) -> Bool {
        withField(name) { _ in true } ?? false
    }

    var acceptedCodings: AcceptedCodings {
        var codings = AcceptedCodings()
        if parser.seen & KnownField.acceptEncoding.bit == 0 { return codings }
        for field in parser.fields where field.known == .acceptEncoding { codings.read(parser.value(field, in: bytes)) }
        return codings
    }
}
