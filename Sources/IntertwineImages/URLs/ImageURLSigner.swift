internal import Crypto
public import IntertwineFetch
internal import IntertwinePrimitives
internal import Synchronization

/// Mints and verifies the paths under which pictures are served: `/images/{signature}/{source}`, and sized ones at
/// `/images/{signature}/{source}/{variant}`.
///
/// The source is the picture's URL in base64url. The signature is base64url too: a version, the key's name, the hour in which
/// the path expires, and 128 bits of HMAC-SHA256 over all of that, the source, and the ``ProcessingOptions`` without its scale: one signature
/// is good for all scales that the variant is offered at, and for no other size. Expiry moves in steps of the rotation, so a picture has
/// one path for that long, and whoever caches by path profits; the path before is valid beside the new one for the whole horizon. Each
/// picture's steps begin at an hour of its own: never do all caches have to fetch everything at once. The path is no part of our own
/// cache's key.
public struct ImageURLSigner: Sendable {
    public static let prefix = "/images/"

    private final class Key: Sendable {
        /// Names the key in a path, so that two can be valid at once. Derived, so that nothing else needs to be configured.
        let name: [UInt8]
        private let prepared: PreparedHMAC

        init(_ bytes: [UInt8]) {
            let key = SymmetricKey(data: bytes)
            name = Array(HMAC<SHA256>.authenticationCode(for: Array("intertwine image key name".utf8), using: key).prefix(2))
            prepared = PreparedHMAC(key: key, prefix: Array("intertwine image path\0".utf8))
        }

        /// Of a head and the text that it stands before.
        func tag(of signed: UnsafeRawBufferPointer) -> (UInt64, UInt64) { prepared.half(of: signed) }
    }

    private static let version: UInt8 = 1
    private static let headLength = 1 + 2 + 4
    private static let tagLength = 16
    private static let signatureLength = headLength + tagLength

    /// The one that signs, and all that verify.
    private final class KeyList: Sendable {
        let signing: Key
        let all: [Key]

        /// - Parameter keys: at least one.
        init(_ keys: [Key]) { (signing, all) = (keys[0], keys) }
    }

    /// Shared by all copies. Each picture of each new cell asks it for a key, on several threads at once: none of them waits for another, or
    /// counts itself as a reader.
    private final class Ring: Sendable {
        /// All that were ever taken: whoever reads one may do so for as long as it likes. A rotation leaves some hundred bytes.
        private let keyLists: Mutex<[KeyList]>
        private let current: Atomic<Unmanaged<KeyList>>

        init(_ keys: KeyList) {
            keyLists = Mutex([keys])
            current = Atomic(Unmanaged.passUnretained(keys))
        }

        func use(_ keys: KeyList) {
            keyLists.withLock { taken in
                taken.append(keys)
                current.store(Unmanaged.passUnretained(keys), ordering: .releasing)
            }
        }

        func withKeys<Value>(_ body: (KeyList) throws -> Value) rethrows -> Value {
            try current.load(ordering: .acquiring)._withUnsafeGuaranteedRef(body)
        }
    }

    private let ring: Ring
    private let horizonHours: Int64
    private let rotationHours: Int64

    /// - Parameters:
    ///   - keys: secrets of at least 16 bytes. The first one signs; all of them verify. Nil where there is none, or one is shorter.
    ///   - horizonHours: how long a path is valid at least, from the last time that it is minted.
    ///   - rotationHours: how long a picture has one path, at least 24; a path is valid for no longer than both together.
    public init?(keys: [[UInt8]], horizonHours: UInt32 = 7 * 24, rotationHours: UInt32 = 30 * 24) {
        guard !keys.isEmpty, keys.allSatisfy({ $0.count >= 16 }), rotationHours >= 24 else { return nil }
        ring = Ring(KeyList(keys.map(Key.init)))
        self.horizonHours = Int64(horizonHours)
        self.rotationHours = Int64(rotationHours)
    }

    /// Has this signer, and all copies of it, sign with other keys.
    ///
    /// - Parameter keys: as at the beginning; where they cannot be, nothing is changed.
    /// - Returns: whether they can.
    public func use(keys: [[UInt8]]) -> Bool {
        guard !keys.isEmpty, keys.allSatisfy({ $0.count >= 16 }) else { return false }
        ring.use(KeyList(keys.map(Key.init)))
        return true
    }

    /// A path, and how long its picture has no other.
    public struct SignedPath: Sendable, Hashable {
        public var path: String
        /// Seconds since 1970 from which on another path is minted; this one stays valid.
        public var changes: Int64
    }

    /// The path of a picture.
    /// - Parameters:
    ///   - variant: nil for the original.
    ///   - now: seconds since 1970.
    public func mint(_ source: FetchURL, _ variant: ProcessingOptions? = nil, now: Int64) -> SignedPath {
        mint(source.text, variant, change: change(of: source.text, after: Int64(Self.hour(now))))
    }

    /// The path of a picture whose source is known to be in libcurl's canonical form, as every one is that `FetchURL.isPlain` says so of.
    public func path(forUnencoded source: String, _ variant: ProcessingOptions? = nil, now: Int64) -> String {
        mint(source, variant, change: change(of: source, after: Int64(Self.hour(now)))).path
    }

    private func mint(_ source: String, _ variant: ProcessingOptions?, change: Int64) -> SignedPath {
        let expiry = UInt32(clamping: change + horizonHours)
        var source = source
        let path = source.withUTF8 { source in
            ring.withKeys { Self.path(UnsafeRawBufferPointer(source), variant, expiry: expiry, key: $0.signing) }
        }
        return SignedPath(path: path, changes: change * 3_600)
    }

    private static func path(_ source: UnsafeRawBufferPointer, _ variant: ProcessingOptions?, expiry: UInt32, key: Key) -> String {
        let variant = variant?.bytes ?? []
        let length = Base64URL.length(of: source.count) + (variant.isEmpty ? 0 : 1 + variant.count)
        // The signature's head and the text that stands behind it in the path, as they are signed.
        return withUnsafeTemporaryAllocation(byteCount: headLength + length, alignment: 1) { signed in
            signed[0] = version
            signed[1] = key.name[0]
            signed[2] = key.name[1]
            signed.storeBytes(of: expiry.bigEndian, toByteOffset: 3, as: UInt32.self)
            let text = UnsafeMutableRawBufferPointer(rebasing: signed[headLength...])
            let end = Base64URL.length(of: source.count)
            Base64URL.encode(source, to: UnsafeMutableRawBufferPointer(rebasing: text[..<end]))
            if !variant.isEmpty {
                text[end] = UInt8(ascii: "/")
                UnsafeMutableRawBufferPointer(rebasing: text[(end + 1)...]).copyBytes(from: variant)
            }
            return path(signed, key.tag(of: UnsafeRawBufferPointer(signed)))
        }
    }

    /// - Parameter signed: the signature's head, and the text.
    private static func path(_ signed: UnsafeMutableRawBufferPointer, _ tag: (UInt64, UInt64)) -> String {
        let text = signed[headLength...]
        let start = prefix.utf8.count
        let end = start + Base64URL.length(of: signatureLength)
        return withUnsafeTemporaryAllocation(byteCount: signatureLength, alignment: 1) { signature in
            signature.copyBytes(from: signed[..<headLength])
            signature.storeBytes(of: tag.0, toByteOffset: headLength, as: UInt64.self)
            signature.storeBytes(of: tag.1, toByteOffset: headLength + 8, as: UInt64.self)
            return String(unsafeUninitializedCapacity: end + 1 + text.count) { path in
                let path = UnsafeMutableRawBufferPointer(path)
                path.copyBytes(from: prefix.utf8)
                Base64URL.encode(UnsafeRawBufferPointer(signature), to: UnsafeMutableRawBufferPointer(rebasing: path[start..<end]))
                path[end] = UInt8(ascii: "/")
                UnsafeMutableRawBufferPointer(rebasing: path[(end + 1)...]).copyMemory(from: UnsafeRawBufferPointer(rebasing: text))
                return end + 1 + text.count
            }
        }
    }

    /// The path alone.
    public func path(for source: FetchURL, _ variant: ProcessingOptions? = nil, now: Int64) -> String {
        mint(source, variant, now: now).path
    }

    /// The next hour in which the picture gets another path.
    private func change(of source: String, after hour: Int64) -> Int64 {
        // FNV-1a: spreads the pictures over the rotation, the same in every process.
        var source = source
        let hash = source.withUTF8 { $0.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
        let offset = Int64(hash % UInt64(rotationHours))
        let (steps, rest) = (hour - offset).quotientAndRemainder(dividingBy: rotationHours)
        return ((rest < 0 ? steps - 1 : steps) + 1) * rotationHours + offset
    }

    /// What a path was minted for.
    public struct Verified: Sendable, Hashable {
        public var source: String
        /// Nil for the original.
        public var sizing: ResizeMode?
        /// Seconds since 1970 from which on the path is valid no more.
        public var expires: Int64
    }

    /// The source that a path was minted for.
    /// - Parameters:
    ///   - path: as in the request line, without query.
    ///   - now: seconds since 1970.
    public func verify(_ path: String, now: Int64) throws(ImageURLError) -> Verified {
        guard path.utf8.starts(with: Self.prefix.utf8) else { throw .malformed }
        let parts = path.utf8.dropFirst(Self.prefix.utf8.count).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), !parts[0].isEmpty, !parts[1].isEmpty, parts[1].count <= FetchURL.longest * 4 / 3 + 4 else {
            throw .malformed
        }
        var sizing: ResizeMode?
        var signed = Array(parts[1])
        if parts.count == 3 {
            sizing = ResizeMode(String(decoding: parts[2].prefix(ProcessingOptions.longest + 1), as: UTF8.self))
            guard let sizing else { throw .malformed }
            signed += [UInt8(ascii: "/")] + sizing.variant.text.utf8
        }
        guard let signature = Base64URL.decode(parts[0]), signature.count == Self.signatureLength, signature[0] == Self.version else {
            throw .forged
        }
        let head = Array(signature.prefix(Self.headLength))
        signed.insert(contentsOf: head, at: 0)
        let given = signature.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: Self.headLength, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: Self.headLength + 8, as: UInt64.self)
            )
        }
        let isGenuine = ring.withKeys { keys in
            keys.all.contains { key in
                guard key.name == Array(head[1..<3]) else { return false }
                // Takes the same time wherever the first difference is.
                let tag = signed.withUnsafeBytes(key.tag)
                return (tag.0 ^ given.0) | (tag.1 ^ given.1) == 0
            }
        }
        guard isGenuine else { throw .forged }
        let expiry = UInt32(bigEndianBytes: head[3...])
        guard isValid(until: Int64(expiry) * 3_600, now: now) else { throw .expired }
        guard let source = Base64URL.decode(parts[1]).flatMap({ String(validating: $0, as: UTF8.self) }) else { throw .malformed }
        return Verified(source: source, sizing: sizing, expires: Int64(expiry) * 3_600)
    }

    /// Whether a path that ends at a moment is valid. One that ends later than any that is minted now was minted by a clock that was ahead,
    /// or before the horizon was made shorter. Clocks of two machines may be a day apart.
    /// - Parameters: seconds since 1970, both of them.
    public func isValid(until expires: Int64, now: Int64) -> Bool {
        now < expires && expires <= (Int64(Self.hour(now)) + rotationHours + horizonHours + 24) * 3_600
    }

    private static func hour(_ seconds: Int64) -> UInt32 {
        UInt32(clamping: seconds / 3_600)
    }
}

/// Why a path is no picture's.
public enum ImageURLError: Error, Sendable, Hashable {
    /// Not of the form of a picture's path at all: 404.
    case malformed
    /// Not minted here, or altered since: 403.
    case forged
    /// Genuine once: 410.
    case expired
}
