import IntertwineHTTPServer
import TestSupport

/// Feeds the parser mutations of the conformance cases, each in one piece, byte by byte and in random pieces.
///
/// What must hold: no trap, the same verdict however the bytes are cut, and never more read than there is.
struct ParserFuzz {
    private enum Verdict: Equatable {
        case incomplete
        case refused(HTTPParseError)
        case complete(fields: Int, used: Int, content: Int, checksum: UInt64)
    }

    private let corpus = (ConformanceCase.requestLines + ConformanceCase.fields + ConformanceCase.bodies).map(\.bytes)
        .filter { $0.count < 2048 }
    private var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    /// False where an input was read in two ways; it is printed.
    func run(_ count: Int) -> Bool {
        var fuzz = self
        var (complete, refused) = (0, 0)
        let parser = HeadParser(limits: HeadLimits())
        for number in 1...max(1, count) {
            let input = fuzz.mutated()
            let whole = Self.read(input, parser) { _ in input.count }
            switch whole {
            case .complete: complete += 1
            case .refused: refused += 1
            case .incomplete: break
            }
            let single = Self.read(input, parser) { $0 + 1 }
            let pieces = Self.read(input, parser) { $0 + 1 + Int(fuzz.random.next() % 40) }
            if whole != single || whole != pieces {
                say("seed input \(number) is read in two ways: \(String(decoding: input, as: UTF8.self).debugDescription)")
                say("whole: \(whole), byte by byte: \(single), in pieces: \(pieces)")
                return false
            }
            if number % 1_000_000 == 0 { say("\(number) inputs") }
        }
        say("\(count) inputs: \(complete) complete, \(refused) refused, \(count - complete - refused) incomplete")
        return true
    }

    private mutating func mutated() -> [UInt8] {
        var bytes = corpus[Int(random.next() % UInt64(corpus.count))]
        for _ in 0..<(random.next() % 4) {
            let index = bytes.isEmpty ? 0 : Int(random.next() % UInt64(bytes.count))
            switch random.next() % 7 {
            case 0 where !bytes.isEmpty: bytes[index] = UInt8(truncatingIfNeeded: random.next())
            case 1 where !bytes.isEmpty: bytes[index] ^= 1 << UInt8(random.next() % 8)
            case 2 where !bytes.isEmpty: bytes.remove(at: index)
            case 3: bytes.insert(Self.telling[Int(random.next() % UInt64(Self.telling.count))], at: index)
            case 4: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 12)], at: index)
            case 5: bytes.removeLast(min(bytes.count, Int(random.next() % 8)))
            default:
                let other = corpus[Int(random.next() % UInt64(corpus.count))]
                bytes.replaceSubrange(index..., with: other.dropFirst(Int(random.next() % UInt64(other.count + 1))))
            }
        }
        return bytes
    }

    /// Bytes that mean something to the parser.
    private static let telling = Array("\r\n \t:;,=\"\\%/.*0123456789abcdefABCDEF\0\u{7F}".utf8) + [0x80, 0xFF]

    /// - Parameter cut: how many bytes are there next, given how many have been looked at.
    private static func read(_ input: [UInt8], _ parser: HeadParser, cut: (Int) -> Int) -> Verdict {
        parser.reset()
        return input.withUnsafeBufferPointer { bytes in
            do throws(HTTPParseError) {
                var end = 0
                repeat {
                    if end == bytes.count { return .incomplete }
                    end = min(bytes.count, cut(end))
                } while try !parser.parse(UnsafeBufferPointer(rebasing: bytes[..<end]))
                precondition(parser.position <= end)
                let head = UnsafeBufferPointer(rebasing: bytes[..<parser.position])
                let framing = try MessageFraming(parser, head)
                _ = try RequestTarget(ByteView(head, parser.target), method: ByteView(head, parser.method))
                var checksum = UInt64(parser.fields.count)
                for field in parser.fields {
                    checksum = checksum &* 31 &+ UInt64(field.name.lowerBound) &* 7 &+ UInt64(field.value.upperBound)
                }
                return try readBody(framing, bytes, parser, end: end, checksum: checksum, cut: cut)
            } catch {
                return .refused(error)
            }
        }
    }

    private static func readBody(
        _ framing: MessageFraming, _ bytes: UnsafeBufferPointer<UInt8>, _ parser: HeadParser, end: Int, checksum: UInt64, cut: (Int) -> Int
    ) throws(HTTPParseError) -> Verdict {
        let start = parser.position
        switch framing.body {
        case .none: return .complete(fields: parser.fields.count, used: start, content: 0, checksum: checksum)
        case .length(let length):
            guard length <= bytes.count - start else { return .incomplete }
            return .complete(fields: parser.fields.count, used: start + length, content: length, checksum: checksum)
        case .chunked:
            var decoder = ChunkedDecoder(extensionBytes: 4096, trailerBytes: 4096, trailerFields: 16)
            var (index, content, end, checksum) = (start, 0, end, checksum)
            while true {
                switch try decoder.next(UnsafeBufferPointer(rebasing: bytes[..<end]), from: &index) {
                case .data(let range):
                    content += range.count
                    for byte in bytes[range] { checksum = checksum &* 31 &+ UInt64(byte) }
                case .end: return .complete(fields: parser.fields.count, used: index, content: content, checksum: checksum)
                case .needsMore:
                    if end == bytes.count { return .incomplete }
                    end = min(bytes.count, cut(end))
                }
            }
        }
    }
}
