internal import IntertwinePrimitives

/// The end of the head of every answer: the fields that are its own, Date, X-Request-ID and Connection, and the empty line. Each loop has one and
/// uses it over and over.
final class PerResponseHeaders {
    private var text: [UInt8] = []
    /// Where the name begins. What stands in front of it holds for a second.
    private var nameStart = 0
    /// What the date says, in seconds since 1970.
    private var second = Int64.min
    private var seed = UInt64.random(in: .min ... .max)

    init() {
        // The longest: with a name of 128 bytes.
        text.reserveCapacity(256)
    }

    /// All of it for one answer.
    ///
    /// - Parameters:
    ///   - name: the request's.
    ///   - bytes: the request's head, where that may lie.
    ///   - closing: whether the answer is the connection's last.
    ///   - announcing: whether the client has to be told that it is not.
    func bytes(naming name: RequestID.Source, in bytes: UnsafeBufferPointer<UInt8>, closing: Bool, announcing: Bool) -> [UInt8] {
        text.removeLast(text.count - nameStart)
        let now = WallClock.coarse() / 1_000
        if now != second {
            second = now
            text.removeAll(keepingCapacity: true)
            text += "Date: ".utf8
            HTTPDate.append(now, to: &text)
            text += "\r\nX-Request-ID: ".utf8
            nameStart = text.count
        }
        switch name {
        case .made(let high, let low): RequestID.append(high, low, to: &text)
        case .supplied(let range): text += bytes[range.clamped(to: 0..<bytes.count)].prefix(RequestID.limit)
        }
        text += (closing ? "\r\nConnection: close\r\n\r\n" : announcing ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\n\r\n").utf8
        return text
    }

    // MARK: Names

    /// A name of ours: unique, not secret.
    func makeName() -> RequestID.Source { .made(random(), random()) }

    /// The name of a request: its own where that is well formed and stands there once.
    func name(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>) -> RequestID.Source {
        guard parser.seen & KnownField.requestID.bit != 0, parser.repeated & KnownField.requestID.bit == 0 else { return makeName() }
        for field in parser.fields where field.known == .requestID {
            let value = Int(field.value.lowerBound)..<Int(field.value.upperBound)
            let isWellFormed =
                !value.isEmpty && value.count <= RequestID.limit && value.upperBound <= bytes.count
                && bytes[value].allSatisfy { ByteClass.of($0).contains(.token) }
            return isWellFormed ? .supplied(value) : makeName()
        }
        return makeName()
    }

    /// SplitMix64 from a random start.
    private func random() -> UInt64 {
        seed &+= 0x9E37_79B9_7F4A_7C15
        var mixed = seed
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
