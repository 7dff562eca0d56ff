internal import IntertwinePrimitives

/// Which formats a client takes, by the `Accept` field of its request (RFC 9110 section 12.5.1).
public struct AcceptedFormats: Sendable, Hashable {
    /// A set of formats; a bit for each.
    struct Set: OptionSet, Sendable, Hashable {
        let rawValue: UInt8

        static let all = Set(ImageFormat.allCases)

        init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        init(_ kinds: [ImageFormat]) {
            rawValue = kinds.reduce(0) { $0 | 1 << ($1.rawValue - 1) }
        }

        func contains(_ kind: ImageFormat) -> Bool { rawValue & 1 << (kind.rawValue - 1) != 0 }
    }

    /// What it may be given.
    private let permitted: Set
    /// What an origin is asked for. The newer formats only where they are named: old clients promise to take anything, and cannot.
    let accepted: Set
    /// Of AVIF and WebP, where both are named, the one with the lower weight.
    private let lesser: Set

    /// Who says nothing takes everything.
    public static let anything = AcceptedFormats(permitted: .all, accepted: Set([.jpeg, .png, .gif]))

    private init(permitted: Set, accepted: Set) {
        (self.permitted, self.accepted, lesser) = (permitted, accepted, [])
    }

    /// - Parameter field: nil where there is none. An empty one says nothing either.
    public init(_ field: String?) {
        self.init(Array((field ?? "").utf8).span)
    }

    public init(_ field: Span<UInt8>) {
        var named: [Int?] = [nil, nil, nil, nil, nil, nil]
        var anyImage: Int?
        var anything: Int?
        var isEmpty = true
        field.forEachWeightedMember { name, said in
            isEmpty = false
            // What is no weight is no refusal.
            let weight = said ?? 1_000
            if name.isEqualIgnoringCase("*/*") {
                anything = weight
            } else if name.isEqualIgnoringCase("image/*") {
                anyImage = weight
            } else if let kind = ImageFormat.allCases.first(where: { name.isEqualIgnoringCase(Self.names[Int($0.rawValue)]) }) {
                named[Int(kind.rawValue)] = weight
            }
            return true
        }
        guard !isEmpty else {
            self = .anything
            return
        }
        let general = anyImage ?? anything ?? 0
        permitted = Set(ImageFormat.allCases.filter { named[Int($0.rawValue)] ?? general > 0 })
        accepted = Set(ImageFormat.allCases.filter { named[Int($0.rawValue)] ?? (Self.isOld($0) ? general : 0) > 0 })
        let avif = named[Int(ImageFormat.avif.rawValue)] ?? 0
        let webP = named[Int(ImageFormat.webp.rawValue)] ?? 0
        lesser = avif == webP || min(avif, webP) == 0 ? [] : Set([avif < webP ? .avif : .webp])
    }

    public func permits(_ kind: ImageFormat) -> Bool { permitted.contains(kind) }

    /// The formats that pictures may be made in for it.
    /// - Parameter newer: those of AVIF and WebP that pictures are made in at all, the preferred one first. The client's own preference goes
    ///   before that. What it thinks of the older formats says nothing: those differ by the picture, and some browsers weigh PNG above JPEG.
    func made(_ newer: [ImageFormat]) -> Set {
        let taken = accepted.isEmpty ? permitted : accepted
        var made = Set(ImageFormat.allCases.filter { taken.contains($0) && (Self.isOld($0) || newer.contains($0)) })
        if !lesser.isEmpty, let first = newer.first(where: { made.contains($0) }), lesser.contains(first),
            newer.contains(where: { made.contains($0) && !lesser.contains($0) })
        {
            made.subtract(lesser)
        }
        return made.isEmpty ? taken : made
    }

    /// Whether there is any picture to give it.
    var isPossible: Bool { !permitted.isEmpty }

    /// The `Accept` field for an origin. Where nothing would be asked for, what may be given is.
    static func field(_ wanted: Set) -> String {
        [ImageFormat.avif, .webp, .png, .jpeg, .gif].filter { wanted.contains($0) }.map(\.contentType).joined(separator: ",")
    }

    private static let names: [StaticString] = ["", "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"]

    private static func isOld(_ kind: ImageFormat) -> Bool { kind == .jpeg || kind == .png || kind == .gif }
}
