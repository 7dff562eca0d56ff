internal import IntertwinePrimitives

/// A state machine that decodes the chunked coding (RFC 9112, 7.1) byte by byte and counts the bytes that it drops.
package struct ChunkedDecoder {
    package enum Event: Hashable {
        case data(Range<Int>)
        case needsMore
        case end
    }

    private enum State {
        case size, beforeSemicolon, beforeName, name, afterName, beforeValue, value, quoted, escaped, afterValue, sizeLineFeed
        case data, dataReturn, dataLineFeed, trailers, done
    }

    private var state = State.size
    private var digits = 0
    private var remaining = 0
    private var extensionBytes = 0
    private let extensionLimit: Int
    private let trailerLimit: Int
    private let trailerFields: Int
    private var trailers: [UInt8] = []
    private var trailerParser: HeadParser?

    package init(extensionBytes: Int, trailerBytes: Int, trailerFields: Int) {
        self.extensionLimit = extensionBytes
        self.trailerLimit = trailerBytes
        self.trailerFields = trailerFields
    }

    package mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, from index: inout Int) throws(HTTPParseError) -> Event {
        while index < bytes.count {
            let byte = bytes[index]
            switch state {
            case .data:
                let count = min(remaining, bytes.count - index)
                let start = index
                remaining -= count
                index += count
                if remaining == 0 { state = .dataReturn }
                return .data(start..<index)
            case .dataReturn, .dataLineFeed:
                guard byte == (state == .dataReturn ? .carriageReturn : .lineFeed) else { throw .bad("Chunk data must end in CRLF.") }
                state = state == .dataReturn ? .dataLineFeed : .size
                (digits, remaining) = (0, 0)
            case .sizeLineFeed:
                guard byte == .lineFeed else { throw .bad("A line must end in CRLF.") }
                state = remaining == 0 ? .trailers : .data
            case .trailers:
                index += 1
                if try isLastOfTrailers(byte) {
                    state = .done
                    return .end
                }
                continue
            case .done:
                return .end
            default:
                try readSizeLine(byte)
            }
            index += 1
        }
        return state == .done ? .end : .needsMore
    }

    package var announced: Int { state == .data ? remaining : 0 }

    func announced(by bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var (copy, index) = (self, 0)
        guard let event = try? copy.next(bytes, from: &index) else { return 0 }
        return if case .data(let range) = event { range.count + copy.announced } else { copy.announced }
    }

    private mutating func readSizeLine(_ byte: UInt8) throws(HTTPParseError) {
        if state == .size, let value = byte.hexadecimalValue {
            digits += 1
            guard digits <= 16, remaining <= Int.max >> 4 else { throw .bad("The chunk size is too large.") }
            remaining = remaining << 4 | Int(value)
            return
        }
        if state == .size, digits == 0 { throw .bad("The chunk size is malformed.") }
        if byte == .carriageReturn, [.size, .name, .value, .afterValue].contains(state) {
            state = .sizeLineFeed
            return
        }
        extensionBytes += 1
        if extensionBytes > extensionLimit { throw .bad("The chunk extensions are too long.") }
        try readExtension(byte)
    }

    /// Blanks may occur before `;` and around `=`, never at the end of the line.
    private mutating func readExtension(_ byte: UInt8) throws(HTTPParseError) {
        let isToken = ByteClass.of(byte).contains(.token)
        switch (state, byte) {
        case (.size, .semicolon), (.beforeSemicolon, .semicolon), (.name, .semicolon), (.afterName, .semicolon), (.value, .semicolon),
            (.afterValue, .semicolon):
            state = .beforeName
        case (.size, .space), (.size, .tab): state = .beforeSemicolon
        case (.value, .space), (.value, .tab), (.afterValue, .space), (.afterValue, .tab): state = .beforeSemicolon
        case (.name, .space), (.name, .tab): state = .afterName
        case (.beforeSemicolon, .space), (.beforeSemicolon, .tab), (.beforeName, .space), (.beforeName, .tab), (.afterName, .space),
            (.afterName, .tab), (.beforeValue, .space), (.beforeValue, .tab):
            break
        case (.name, .equals), (.afterName, .equals): state = .beforeValue
        case (.beforeName, _) where isToken: state = .name
        case (.name, _) where isToken, (.value, _) where isToken: break
        case (.beforeValue, .quote): state = .quoted
        case (.beforeValue, _) where isToken: state = .value
        case (.quoted, .quote): state = .afterValue
        case (.quoted, 0x5C): state = .escaped
        case (.quoted, _) where ByteClass.of(byte).contains(.value): break
        case (.escaped, _) where ByteClass.of(byte).contains(.value): state = .quoted
        default: throw .bad("The chunk size line is malformed.")
        }
    }

    private mutating func isLastOfTrailers(_ byte: UInt8) throws(HTTPParseError) -> Bool {
        // The two bytes of the empty line at the end do not count as trailers.
        if trailers.count == trailerLimit + 2 { throw .bad("The trailers are too long.") }
        trailers.append(byte)
        let parser = trailerParser ?? HeadParser(trailerBytes: trailerLimit, trailerFields: trailerFields)
        trailerParser = parser
        let buffer = trailers
        let outcome = buffer.withUnsafeBufferPointer { bytes in
            Result<Bool, HTTPParseError> { () throws(HTTPParseError) in
                guard try parser.parse(bytes) else { return false }
                for field in parser.fields where Self.isForbidden(field, as: parser.name(field, in: bytes)) {
                    throw .bad("A trailer contains a forbidden field.")
                }
                return true
            }
        }
        return try outcome.get()
    }

    /// Fields of framing, routing, authentication and content (RFC 9110, 6.5.1) are not allowed in a trailer.
    private static func isForbidden(_ field: HeadParser.Field, as name: ByteView) -> Bool {
        if field.known != .other { return true }
        return name.isEqualIgnoringCase("cookie") || name.isEqualIgnoringCase("trailer") || name.isEqualIgnoringCase("te")
            || name.isEqualIgnoringCase("upgrade") || name.isEqualIgnoringCase("keep-alive") || name.isEqualIgnoringCase("content-range")
            || name.isEqualIgnoringCase("cache-control") || name.isEqualIgnoringCase("max-forwards")
    }
}
