internal import IntertwinePrimitives

/// The end of every response head: the fields Date, X-Request-ID and Connection, and the empty line.
final class PerResponseHeaders {
    private var text: [UInt8] = []
    private var nameStart = 0
    /// The second that the date shows, since 1970-01-01 UTC.
    private var second = Int64.min
    private var seed = UInt64.random(in: .min ... .max)

    init() {
        // The capacity suffices for the longest text, with a request id of 128 bytes.
        text.reserveCapacity(256)
    }

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
        case .generated(let high, let low): RequestID.append(high, low, to: &text)
        case .supplied(let range): text += bytes[range.clamped(to: 0..<bytes.count)].prefix(RequestID.limit)
        }
        text += (closing ? "\r\nConnection: close\r\n\r\n" : announcing ? "\r\nConnection: keep-alive\r\n\r\n" : "\r\n\r\n").utf8
        return text
    }

    // MARK: Request ids

    func makeName() -> RequestID.Source { .generated(random(), random()) }

    /// Returns the id of a request: its first `X-Request-ID` if that is well-formed, otherwise a new one. Each proxy on the way may add one.
    func name(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>) -> RequestID.Source {
        guard parser.seen & KnownField.requestID.bit != 0 else { return makeName() }
        for field in parser.fields where field.known == .requestID {
            let value = Int(field.value.lowerBound)..<Int(field.value.upperBound)
            let isWellFormed =
                !value.isEmpty && value.count <= RequestID.limit && value.upperBound <= bytes.count
                && bytes[value].allSatisfy { ByteClass.of($0).contains(.token) }
            return isWellFormed ? .supplied(value) : makeName()
        }
        return makeName()
    }

    private func random() -> UInt64 {
        seed &+= SplitMix64.increment
        return SplitMix64.mix(seed)
    }
}
