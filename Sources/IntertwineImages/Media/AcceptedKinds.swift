/// Which formats a client takes, by the `Accept` field of its request (RFC 9110 section 12.5.1).
public struct AcceptedKinds: Sendable, Hashable {
    /// A set of formats; a bit for each.
    struct Set: OptionSet, Sendable, Hashable {
        let rawValue: UInt8

        static let all = Set(MediaKind.allCases)

        init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        init(_ kinds: [MediaKind]) {
            rawValue = kinds.reduce(0) { $0 | 1 << ($1.rawValue - 1) }
        }

        func contains(_ kind: MediaKind) -> Bool { rawValue & 1 << (kind.rawValue - 1) != 0 }
    }

    /// What it may be given.
    let permitted: Set
    /// What an origin is asked for. The newer formats only where they are named: old clients promise to take anything, and cannot.
    let wanted: Set

    /// Who says nothing takes everything.
    public static let anything = AcceptedKinds(permitted: .all, wanted: Set([.jpeg, .png, .gif]))

    private init(permitted: Set, wanted: Set) {
        self.permitted = permitted
        self.wanted = wanted
    }

    /// - Parameter field: nil where there is none. An empty one says nothing either.
    public init(_ field: String?) {
        self.init(Array((field ?? "").utf8).span)
    }

    public init(_ field: Span<UInt8>) {
        var named: [Bool?] = [nil, nil, nil, nil, nil, nil]
        var anyImage: Bool?
        var anything: Bool?
        var isEmpty = true
        var start = 0
        while start < field.count {
            var end = start
            while end < field.count, field[end] != UInt8(ascii: ",") { end += 1 }
            let (range, isTaken) = Self.member(field, start, end)
            start = end + 1
            guard !range.isEmpty else { continue }
            isEmpty = false
            if Self.equal(field, range, "*/*") {
                anything = isTaken
            } else if Self.equal(field, range, "image/*") {
                anyImage = isTaken
            } else if let kind = MediaKind.allCases.first(where: { Self.equal(field, range, Self.names[Int($0.rawValue)]) }) {
                named[Int(kind.rawValue)] = isTaken
            }
        }
        guard !isEmpty else {
            self = .anything
            return
        }
        let general = anyImage ?? anything ?? false
        permitted = Set(MediaKind.allCases.filter { named[Int($0.rawValue)] ?? general })
        wanted = Set(MediaKind.allCases.filter { named[Int($0.rawValue)] ?? (general && Self.isOld($0)) })
    }

    public func permits(_ kind: MediaKind) -> Bool { permitted.contains(kind) }

    /// The formats that pictures may be made in for it.
    /// - Parameter newer: those of AVIF and WebP that pictures are made in at all.
    func made(_ newer: [MediaKind]) -> Set {
        let taken = wanted.isEmpty ? permitted : wanted
        let made = Set(MediaKind.allCases.filter { taken.contains($0) && (Self.isOld($0) || newer.contains($0)) })
        return made.isEmpty ? taken : made
    }

    /// Whether there is any picture to give it.
    var isPossible: Bool { !permitted.isEmpty }

    /// The `Accept` field for an origin. Where nothing would be asked for, what may be given is.
    static func field(_ wanted: Set) -> String {
        [MediaKind.avif, .webp, .png, .jpeg, .gif].filter { wanted.contains($0) }.map(\.contentType).joined(separator: ",")
    }

    private static let names: [StaticString] = ["", "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"]

    private static func isOld(_ kind: MediaKind) -> Bool { kind == .jpeg || kind == .png || kind == .gif }

    /// The media range of one member without blanks, and whether its weight is not zero.
    private static func member(_ field: Span<UInt8>, _ start: Int, _ end: Int) -> (range: Range<Int>, isTaken: Bool) {
        var semicolon = start
        while semicolon < end, field[semicolon] != UInt8(ascii: ";") { semicolon += 1 }
        var (first, last) = (start, semicolon)
        while first < last, isBlank(field[first]) { first += 1 }
        while last > first, isBlank(field[last - 1]) { last -= 1 }
        var isTaken = true
        var place = semicolon
        while place < end {
            // At a semicolon: a weight, or another parameter.
            place += 1
            while place < end, isBlank(field[place]) { place += 1 }
            if place + 2 < end, field[place] | 0x20 == UInt8(ascii: "q"), field[place + 1] == UInt8(ascii: "=") {
                var digit = place + 2
                var isZero = field[digit] == UInt8(ascii: "0")
                while digit < end, field[digit] != UInt8(ascii: ";") {
                    if (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(field[digit]) { isZero = false }
                    digit += 1
                }
                isTaken = !isZero
            }
            while place < end, field[place] != UInt8(ascii: ";") { place += 1 }
        }
        return (first..<last, isTaken)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func equal(_ field: Span<UInt8>, _ range: Range<Int>, _ name: StaticString) -> Bool {
        guard range.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { name in
            for place in 0..<name.count {
                let byte = field[range.lowerBound + place]
                guard ((65...90).contains(byte) ? byte | 0x20 : byte) == name[place] else { return false }
            }
            return true
        }
    }
}
