/// A state machine that parses the request line and the field lines of a message.
/// If RFC 9112 leaves a choice, the parser is strict: lines end in CRLF, one space separates the parts of the request line, and lines are
/// not folded.
package final class HeadParser {
    package struct Field {
        package var name: Range<UInt32>
        package var value: Range<UInt32>
        var known: KnownField
    }

    private enum State {
        case start, startLineFeed, method, targetStart, target, version, requestLineFeed
        case fieldStart, name, valueStart, value, valueLineFeed, endLineFeed, done
    }

    private static let versionLength = 9

    private var state = State.start
    private let limits: HeadLimits
    private let firstState: State
    private let oversized: Int
    package private(set) var position = 0
    private var leadingLines = 0
    private var lineStart = 0
    private var scanOffset = 0
    private var valueEnd = 0
    private var pendingName: Range<UInt32> = 0..<0
    package private(set) var method = 0..<0
    package private(set) var target = 0..<0
    private var versionStart = 0
    private var major: UInt8 = 0
    private(set) var minor: UInt8 = 0
    package private(set) var fields: [Field] = []
    private(set) var seen: UInt32 = 0
    private(set) var repeated: UInt32 = 0

    package init(limits: HeadLimits) {
        self.limits = limits
        self.firstState = .start
        self.oversized = 431
        // Few heads have more fields; the array then grows.
        fields.reserveCapacity(min(limits.fields, 32))
    }

    init(trailerBytes: Int, trailerFields: Int) {
        self.limits = HeadLimits(fieldBlock: trailerBytes, fields: trailerFields)
        self.firstState = .fieldStart
        self.oversized = 400
        self.state = .fieldStart
    }

    package func reset() {
        state = firstState
        position = 0
        leadingLines = 0
        lineStart = 0
        method = 0..<0
        seen = 0
        repeated = 0
        fields.removeAll(keepingCapacity: true)
    }

    package func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws(HTTPParseError) -> Bool {
        var index = position
        defer { position = index }
        while index < bytes.count {
            let byte = bytes[index]
            switch state {
            case .start:
                if byte == .carriageReturn {
                    if leadingLines == limits.leadingLines { throw .bad("Too many empty lines before the request.") }
                    leadingLines += 1
                    state = .startLineFeed
                } else {
                    guard ByteClass.of(byte).contains(.token) else { throw .bad("The request line does not start with a method.") }
                    scanOffset = index
                    lineStart = index
                    state = .method
                }
            case .startLineFeed:
                guard byte == .lineFeed else { throw .bad("A line must end in CRLF.") }
                state = .start
            case .method:
                index = skip(.token, in: bytes, from: index, upTo: scanOffset + limits.method)
                guard index < bytes.count else { break }
                if index - scanOffset >= limits.method { throw HTTPParseError(501, "The method is too long.") }
                guard bytes[index] == .space else { throw .bad("The method contains an invalid byte.") }
                method = scanOffset..<index
                state = .targetStart
            case .targetStart:
                guard ByteClass.of(byte).contains(.target) else { throw .bad("The request target is missing.") }
                scanOffset = index
                state = .target
            case .target:
                // After the target, a space and the version always follow.
                index = skip(.target, in: bytes, from: index, upTo: lineStart + limits.requestLine - Self.versionLength + 1)
                if index - lineStart + Self.versionLength > limits.requestLine {
                    throw HTTPParseError(414, "The request line is too long.")
                }
                guard index < bytes.count else { break }
                guard bytes[index] == .space else { throw .bad("The request target contains an invalid byte.") }
                target = scanOffset..<index
                versionStart = index + 1
                state = .version
            case .version:
                try readVersion(byte, at: index - versionStart)
            case .requestLineFeed:
                guard byte == .lineFeed else { throw .bad("A line must end in CRLF.") }
                lineStart = index + 1
                scanOffset = index + 1
                state = .fieldStart
            case .fieldStart:
                try startField(byte, at: index)
            case .name:
                index = skip(.token, in: bytes, from: index, upTo: lineStart + limits.fieldBlock + 1)
                try checkFieldBlock(upTo: index)
                guard index < bytes.count else { break }
                guard bytes[index] == .colon else { throw .bad("A field name contains an invalid byte.") }
                pendingName = UInt32(truncatingIfNeeded: scanOffset)..<UInt32(truncatingIfNeeded: index)
                state = .valueStart
            case .valueStart:
                try checkFieldBlock(upTo: index)
                if !byte.isBlank {
                    scanOffset = index
                    valueEnd = index
                    state = .value
                    continue
                }
            case .value:
                let start = index
                index = skip(.value, in: bytes, from: index, upTo: lineStart + limits.fieldBlock + 1)
                var last = index
                while last > start, bytes[last - 1].isBlank { last -= 1 }
                if last > start { valueEnd = last }
                try checkFieldBlock(upTo: index)
                guard index < bytes.count else { break }
                guard bytes[index] == .carriageReturn else { throw .bad("A field value contains an invalid byte.") }
                state = .valueLineFeed
            case .valueLineFeed:
                guard byte == .lineFeed else { throw .bad("A line must end in CRLF.") }
                try checkFieldBlock(upTo: index + 1)
                finishField(bytes)
                state = .fieldStart
            case .endLineFeed:
                guard byte == .lineFeed else { throw .bad("A line must end in CRLF.") }
                index += 1
                state = .done
                return true
            case .done:
                return true
            }
            if index < bytes.count { index += 1 }
        }
        return state == .done
    }

    @inline(__always)
    private func skip(_ wanted: ByteClass, in bytes: UnsafeBufferPointer<UInt8>, from start: Int, upTo limit: Int) -> Int {
        let end = min(bytes.count, limit)
        return ByteClass.table.withUnsafeBufferPointer { table in
            var index = start
            while index < end, table[Int(bytes[index])] & wanted.rawValue != 0 { index += 1 }
            return index
        }
    }

    private func readVersion(_ byte: UInt8, at offset: Int) throws(HTTPParseError) {
        let isRight =
            switch offset {
            case 0: byte == 0x48
            case 1, 2: byte == 0x54
            case 3: byte == 0x50
            case 4: byte == .slash
            case 5, 7: ByteClass.of(byte).contains(.digit)
            case 6: byte == 0x2E
            default: byte == .carriageReturn
            }
        guard isRight else { throw .bad("The HTTP version is malformed.") }
        switch offset {
        case 5: major = byte &- 0x30
        case 7: minor = byte &- 0x30
        case 8:
            if major != 1 { throw HTTPParseError(505, "Supported versions: HTTP/1.0, HTTP/1.1.") }
            state = .requestLineFeed
        default: break
        }
    }

    private func startField(_ byte: UInt8, at index: Int) throws(HTTPParseError) {
        if byte == .carriageReturn {
            state = .endLineFeed
            return
        }
        if byte.isBlank { throw .bad("Field lines must not be folded or indented.") }
        guard ByteClass.of(byte).contains(.token) else { throw .bad("A field name is empty or contains an invalid byte.") }
        if fields.count == limits.fields { throw HTTPParseError(oversized, "Too many header fields.") }
        scanOffset = index
        state = .name
    }

    private func checkFieldBlock(upTo index: Int) throws(HTTPParseError) {
        if index - lineStart > limits.fieldBlock { throw HTTPParseError(oversized, "The header fields are too long.") }
    }

    private func finishField(_ bytes: UnsafeBufferPointer<UInt8>) {
        let known = KnownField(ByteView(bytes, Int(pendingName.lowerBound)..<Int(pendingName.upperBound)))
        if known != .other {
            if seen & known.bit & KnownField.singletons != 0 { repeated |= known.bit }
            seen |= known.bit
        }
        let value = UInt32(truncatingIfNeeded: scanOffset)..<UInt32(truncatingIfNeeded: max(scanOffset, valueEnd))
        fields.append(Field(name: pendingName, value: value, known: known))
    }
}

package struct HeadLimits: Hashable {
    var requestLine = 8 * 1024
    var fieldBlock = 16 * 1024
    package var fields = 100
    let method = 64
    /// The number of empty lines before the request line (RFC 9112, 2.2).
    let leadingLines = 2

    package init() {}

    init(requestLine: Int = 8 * 1024, fieldBlock: Int, fields: Int) {
        self.requestLine = requestLine
        self.fieldBlock = fieldBlock
        self.fields = fields
    }
}

enum KnownField: UInt8 {
    case other, acceptEncoding, authorization, connection, contentEncoding, contentLength, contentType, expect, host, ifMatch,
        ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince, range, requestID, transferEncoding

    @inline(__always)
    var bit: UInt32 { 1 << UInt32(rawValue) }

    static let singletons: UInt32 =
        authorization.bit | contentLength.bit | contentType.bit | host.bit | ifModifiedSince.bit | ifRange.bit
        | ifUnmodifiedSince.bit | range.bit | transferEncoding.bit

    static let selectors: UInt32 =
        acceptEncoding.bit | ifMatch.bit | ifModifiedSince.bit | ifNoneMatch.bit | ifUnmodifiedSince.bit | range.bit

    init(_ name: ByteView) {
        let candidate: (KnownField, StaticString)? =
            switch (name.count, name[0].map(\.lowercased), name[3].map(\.lowercased)) {
            case (4, 0x68, _): (.host, "host")
            case (5, 0x72, _): (.range, "range")
            case (6, 0x65, _): (.expect, "expect")
            case (8, 0x69, 0x6D): (.ifMatch, "if-match")
            case (8, 0x69, 0x72): (.ifRange, "if-range")
            case (10, 0x63, _): (.connection, "connection")
            case (12, 0x63, _): (.contentType, "content-type")
            case (12, 0x78, _): (.requestID, "x-request-id")
            case (13, 0x61, _): (.authorization, "authorization")
            case (13, 0x69, _): (.ifNoneMatch, "if-none-match")
            case (14, 0x63, _): (.contentLength, "content-length")
            case (15, 0x61, _): (.acceptEncoding, "accept-encoding")
            case (16, 0x63, _): (.contentEncoding, "content-encoding")
            case (17, 0x74, _): (.transferEncoding, "transfer-encoding")
            case (17, 0x69, _): (.ifModifiedSince, "if-modified-since")
            case (19, 0x69, _): (.ifUnmodifiedSince, "if-unmodified-since")
            default: nil
            }
        if let candidate, name.isEqualIgnoringCase(candidate.1) { self = candidate.0 } else { self = .other }
    }
}

/// It always ends the connection, because the start of the next request is unknown.
package struct HTTPParseError: Error, Hashable {
    package let status: Int
    /// It never contains bytes of the request.
    package let detail: String

    init(_ status: Int, _ detail: StaticString) {
        self.status = status
        self.detail = detail.description
    }

    static func bad(_ detail: StaticString) -> HTTPParseError { HTTPParseError(400, detail) }
}
