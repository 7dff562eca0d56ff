/// A view of a request's head where it lies in the receive buffer: nothing is copied, nothing is allocated.
///
/// It can not be kept: whoever needs more than this call takes the ``HTTPHandler``'s slower faces.
public struct RequestHead: ~Copyable {
    let parser: HeadParser
    let bytes: UnsafeBufferPointer<UInt8>
    private let target: ByteView
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

    /// Whether path and query are exactly these bytes without those at their end.
    public func hasTarget(_ expected: [UInt8], before end: [UInt8]) -> Bool {
        let count = expected.count - end.count
        guard target.count == count else { return false }
        for index in 0..<count where target[index] != expected[index] { return false }
        for index in end.indices where expected[count + index] != end[index] { return false }
        return true
    }

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

/// For handlers that look at heads where they lie.
extension RequestHead {
    /// Calls `body` with each field, in their order: its name in lower case, and what reads its value, without the blanks around it.
    public func forEachField(_ body: (_ name: String, _ value: () -> String) -> Void) {
        for field in parser.fields {
            // Made in one piece, most without memory of their own: every click's head is looked at.
            let own = ByteView(bytes, Int(field.name.lowerBound)..<Int(field.name.upperBound)).bytes
            let name = String(unsafeUninitializedCapacity: own.count) { name in
                for index in 0..<own.count { name.initializeElement(at: index, to: own[index].lowercased) }
                return own.count
            }
            body(name) { parser.value(field, in: bytes).string }
        }
    }

    /// Calls `body` with path and query as they came.
    public func withTarget<Result>(_ body: (Span<UInt8>) -> Result) -> Result { body(target.bytes.span) }

    /// The value of the only field of this name, in lower case, where it is printable ASCII and not empty; nil for everything else.
    public func plainValue(of name: [UInt8]) -> String? {
        var found: ByteView?
        for field in parser.fields where isName(field, name) {
            guard found == nil else { return nil }
            found = parser.value(field, in: bytes)
        }
        guard let found, !found.isEmpty, found.bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return found.string
    }

    /// The one segment of the path behind a prefix. Nil where there is more to the target than that: another segment, a query, an escape.
    public func segment(behind prefix: StaticString) -> String? {
        let length = prefix.utf8CodeUnitCount
        guard target.count > length, target.part(0..<length).isEqual(prefix) else { return nil }
        let segment = target.part(length..<target.count)
        let isPlain = segment.bytes.allSatisfy { $0 != .slash && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "%") }
        return isPlain ? segment.string : nil
    }

    /// Whether a field of this name, in lower case, is there.
    public func hasField(_ name: [UInt8]) -> Bool {
        for field in parser.fields where isName(field, name) { return true }
        return false
    }

    private func isName(_ field: HeadParser.Field, _ name: [UInt8]) -> Bool {
        let own = ByteView(bytes, Int(field.name.lowerBound)..<Int(field.name.upperBound))
        return own.count == name.count && zip(own.bytes, name).allSatisfy { $0.lowercased == $1 }
    }

    /// What ``targetHash`` is for these bytes.
    ///
    /// - Parameter start: what it is for those in front of them.
    public static func hash(ofTarget target: [UInt8], after start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        target.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

/// The methods the server tells apart before a request is made of the bytes.
public enum RequestMethod: Sendable {
    case get, head, post, put, patch, delete, options, connect, trace, other

    init(_ name: ByteView) {
        self =
            switch name.count {
            case 3 where name.isEqual("GET"): .get
            case 3 where name.isEqual("PUT"): .put
            case 4 where name.isEqual("HEAD"): .head
            case 4 where name.isEqual("POST"): .post
            case 5 where name.isEqual("PATCH"): .patch
            case 5 where name.isEqual("TRACE"): .trace
            case 6 where name.isEqual("DELETE"): .delete
            case 7 where name.isEqual("OPTIONS"): .options
            case 7 where name.isEqual("CONNECT"): .connect
            default: .other
            }
    }
}
