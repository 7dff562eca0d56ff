internal import IntertwinePrimitives

/// Names a request in its answer and in the log: what the client sent as `X-Request-ID`, where that is 1 to 128 token characters
/// (RFC 9110 section 5.6.2), else a UUID (RFC 9562) that the server makes.
public struct RequestID: Sendable, Hashable {
    /// The most bytes that a client's own may have.
    public static let limit = 128

    private enum Form: Hashable {
        case made(UInt64, UInt64)
        case given(String)
    }

    private let form: Form

    init(_ name: Name, in bytes: UnsafeBufferPointer<UInt8>) {
        switch name {
        case .made(let high, let low): form = .made(high, low)
        case .given(let range): form = .given(ByteView(bytes, range).string)
        }
    }

    /// What stands in the answer.
    public var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``text``.
    public func append(to bytes: inout [UInt8]) {
        switch form {
        case .made(let high, let low): Self.forEachByte(high, low) { bytes.append($0) }
        case .given(let text): bytes += text.utf8
        }
    }

    /// A UUID of version 4, in lower case.
    private static func forEachByte(_ high: UInt64, _ low: UInt64, _ body: (UInt8) -> Void) {
        let high = high & ~0xF000 | 0x4000
        let low = low & ~(0b11 << 62) | 0b10 << 62
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 { body(UInt8(ascii: "-")) }
            let half = index < 16 ? high : low
            body(Hexadecimal.digit(UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (index & 15)))))
        }
    }
}

extension RequestID {
    /// An id that has not become text: kept for every request without a place on the heap.
    enum Name {
        case made(UInt64, UInt64)
        /// Where it lies in the request's head.
        case given(Range<Int>)
    }

    /// The field line of the answers that a loop is at work on. Each loop has one and uses it over and over.
    final class Line {
        private static let start: StaticString = "X-Request-ID: "

        private let line: UnsafeMutableRawBufferPointer
        private var count = 0
        private var seed = UInt64.random(in: .min ... .max)

        init() {
            line = .allocate(byteCount: Self.start.utf8CodeUnitCount + RequestID.limit + 2, alignment: 1)
            let start = UnsafeRawBufferPointer(start: Self.start.utf8Start, count: Self.start.utf8CodeUnitCount)
            line.copyMemory(from: start)
        }

        deinit {
            line.deallocate()
        }

        /// All of the line, its end included; valid until the next call.
        var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: line[..<count]) }

        /// A name of ours: unique, not secret.
        func make() -> Name { .made(random(), random()) }

        /// The name of a request: its own where that is well formed and stands there once.
        func name(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>) -> Name {
            guard parser.seen & KnownField.requestID.bit != 0, parser.repeated & KnownField.requestID.bit == 0 else { return make() }
            for field in parser.fields where field.known == .requestID {
                let value = Int(field.value.lowerBound)..<Int(field.value.upperBound)
                let isWellFormed =
                    !value.isEmpty && value.count <= RequestID.limit && value.upperBound <= bytes.count
                    && bytes[value].allSatisfy { ByteClass.of($0).contains(.token) }
                return isWellFormed ? .given(value) : make()
            }
            return make()
        }

        /// Has the line tell a name.
        func write(_ name: Name, in bytes: UnsafeBufferPointer<UInt8>) {
            count = Self.start.utf8CodeUnitCount
            switch name {
            case .made(let high, let low): RequestID.forEachByte(high, low) { put($0) }
            case .given(let range): for byte in bytes[range.clamped(to: 0..<bytes.count)].prefix(RequestID.limit) { put(byte) }
            }
            put(.carriageReturn)
            put(.lineFeed)
        }

        private func put(_ byte: UInt8) {
            line[count] = byte
            count += 1
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
}
