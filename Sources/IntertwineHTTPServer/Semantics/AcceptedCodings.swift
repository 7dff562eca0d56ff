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
