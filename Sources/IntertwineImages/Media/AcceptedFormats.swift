internal import IntertwinePrimitives

/// The image formats that a client accepts, parsed from the `Accept` field of its request (RFC 9110 section 12.5.1).
package struct AcceptedFormats: Sendable, Hashable {
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

    private let permitted: Set
    /// WebP and AVIF are included only if the client names them. Why: old clients send `*/*` without support.
    let accepted: Set
    private let lesser: Set

    package static let anything = AcceptedFormats(permitted: .all, accepted: Set([.jpeg, .png, .gif]))

    private init(permitted: Set, accepted: Set) {
        (self.permitted, self.accepted, lesser) = (permitted, accepted, [])
    }

    package init(_ field: String?) {
        self.init(Array((field ?? "").utf8).span)
    }

    package init(_ field: Span<UInt8>) {
        var named: [Int?] = [nil, nil, nil, nil, nil, nil]
        var anyImage: Int?
        var anything: Int?
        var isEmpty = true
        field.forEachWeightedMember { name, said in
            isEmpty = false
            // An invalid weight is not a refusal.
            let weight = said ?? 1_000
            if name.isEqualIgnoringCase("*/*") {
                anything = weight
            } else if name.isEqualIgnoringCase("image/*") {
                anyImage = weight
            } else if let kind = ImageFormat.allCases.first(where: { name.isEqualIgnoringCase(Self.names[Int($0.rawValue)]) }) {
                named[Int(kind.rawValue)] = weight
            } else if name.isEqualIgnoringCase("image/jpg") || name.isEqualIgnoringCase("image/pjpeg") {
                // These names of JPEG are not registered, but in use.
                named[Int(ImageFormat.jpeg.rawValue)] = weight
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

    package func permits(_ kind: ImageFormat) -> Bool { permitted.contains(kind) }

    /// The weights of JPEG, PNG and GIF are ignored: the choice depends on the image, and some browsers weigh PNG above JPEG.
    func made(_ newer: [ImageFormat]) -> Set {
        let usable = accepted.isEmpty ? permitted : accepted
        var made = Set(ImageFormat.allCases.filter { usable.contains($0) && (Self.isOld($0) || newer.contains($0)) })
        if !lesser.isEmpty, let first = newer.first(where: { made.contains($0) }), lesser.contains(first),
            newer.contains(where: { made.contains($0) && !lesser.contains($0) })
        {
            made.subtract(lesser)
        }
        return made.isEmpty ? usable : made
    }

    var isPossible: Bool { !permitted.isEmpty }

    static func field(_ wanted: Set) -> String {
        [ImageFormat.avif, .webp, .png, .jpeg, .gif].filter { wanted.contains($0) }.map(\.contentType).joined(separator: ",")
    }

    private static let names: [StaticString] = ["", "image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"]

    private static func isOld(_ kind: ImageFormat) -> Bool { kind == .jpeg || kind == .png || kind == .gif }
}
