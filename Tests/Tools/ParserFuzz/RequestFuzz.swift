import IntertwineHTTPServer
import TestSupport

/// The heads and bodies of requests.
struct RequestFuzz: FuzzTarget {
    let name = "requests"
    let corpus = (ConformanceCase.requestLines + ConformanceCase.fields + ConformanceCase.bodies).map(\.bytes).filter { $0.count < 2048 }
    let telling = Array("\r\n \t:;,=\"\\%/.*0123456789abcdefABCDEF\0\u{7F}".utf8) + [0x80, 0xFF]
    private let parser = HeadParser(limits: HeadLimits())

    private enum Verdict: Equatable {
        case incomplete
        case refused(HTTPParseError)
        case complete(fields: Int, used: Int, content: Int, checksum: UInt64)
    }

    func verdict(on input: [UInt8], cut: (Int) -> Int) -> String {
        "\(Self.read(input, parser, cut: cut))"
    }

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
                _ = try RequestTarget(parser, head)
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
        switch framing.length {
        case 0: return .complete(fields: parser.fields.count, used: start, content: 0, checksum: checksum)
        case let length?:
            guard length <= bytes.count - start else { return .incomplete }
            return .complete(fields: parser.fields.count, used: start + length, content: length, checksum: checksum)
        case nil:
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
