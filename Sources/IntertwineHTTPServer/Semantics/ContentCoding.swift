internal import CIntertwineZlib

/// What the Accept-Encoding fields of a request say about the two codings the server has (RFC 9110, 12.5.3).
struct AcceptedCodings: Hashable {
    enum Choice { case identity, gzip, notAcceptable }

    /// More elements than this are not read.
    private static let elementLimit = 32

    /// Weights in thousandths, nil where nothing was said.
    private var gzip: Int?
    private var identity: Int?
    private var star: Int?

    /// Whether gzip may be sent and is wanted at least as much as identity.
    var prefersGzip: Bool { choose(hasGzip: true) == .gzip }

    init() {}

    mutating func read(_ value: ByteView) {
        value.forEachElement(limit: Self.elementLimit) { element in
            let end = element.bytes.firstIndex(of: .semicolon) ?? element.count
            let coding = element.part(0..<end).trimmed
            let weight = end == element.count ? 1000 : Self.weight(element.part(end + 1..<element.count).trimmed)
            guard let weight else { return true }
            if coding.isEqualIgnoringCase("gzip") || coding.isEqualIgnoringCase("x-gzip") {
                gzip = max(gzip ?? 0, weight)
            } else if coding.isEqualIgnoringCase("identity") {
                identity = weight
            } else if coding.isEqual("*") {
                star = weight
            }
            return true
        }
    }

    func choose(hasGzip: Bool) -> Choice {
        let gzip = self.gzip ?? star ?? 0
        let identity = self.identity ?? star
        if hasGzip, gzip > 0, gzip >= identity ?? 0 { return .gzip }
        if identity != 0 { return .identity }
        if gzip > 0 { return hasGzip ? .gzip : .identity }
        return .notAcceptable
    }

    /// `q=` and at most three decimals from 0 to 1; nil for anything else.
    private static func weight(_ parameter: ByteView) -> Int? {
        guard parameter.count >= 3, parameter.count <= 7, parameter[0]?.lowercased == 0x71, parameter[1] == .equals,
            let whole = parameter[2], whole == 0x30 || whole == 0x31
        else { return nil }
        var thousandths = whole == 0x31 ? 1000 : 0
        if parameter.count > 3 {
            guard parameter[3] == 0x2E else { return nil }
            var scale = 100
            for byte in parameter.part(4..<parameter.count).bytes {
                guard ByteClass.of(byte).contains(.digit) else { return nil }
                thousandths += Int(byte &- 0x30) * scale
                scale /= 10
            }
        }
        return thousandths <= 1000 ? thousandths : nil
    }
}

/// The gzip coding (RFC 1952) of bytes that are all there.
enum Gzip {
    /// Below this many bytes the coding saves nothing that a packet would notice.
    static let minimumLength = 1024

    /// The coded bytes, nil where they would not be fewer or zlib has no memory.
    ///
    /// - Parameter level: 1 (fast) to 9 (small).
    static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        guard bytes.count >= minimumLength, bytes.count < Int(UInt32.max) else { return nil }
        var stream = z_stream()
        guard czlib_gzip_init(&stream, level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let capacity = bytes.count
        let result = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            bytes.withUnsafeBufferPointer { input in
                // zlib does not write through next_in; its type only lacks the const.
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(capacity)
                count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? capacity - Int(stream.avail_out) : 0
            }
        }
        return result.isEmpty ? nil : result
    }
}
