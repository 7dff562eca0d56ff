internal import IntertwinePrimitives
internal import Synchronization

/// Creates and verifies the signed paths of images: `/images/{signature}/{source}` and, for resized ones,
/// `/images/{signature}/{source}/{variant}`.
/// The HMAC covers these fields, the source, and the ``ProcessingOptions`` without scale. One signature is therefore valid for all scales
/// of a variant, and for no other size.
/// The expiry advances in steps of the rotation, so an image has one cacheable path per step. Steps of different images begin at different
/// hours. Why: downstream caches never fetch all images at once. The path is not part of the key of this cache.
package final class ImageURLSigner: Sendable {
    package static let prefix = "/images/"

    private final class Key: Sendable {
        /// The name of the key in a path, so that several keys can be valid. It is derived from the key, so no further setting is necessary.
        let name: [UInt8]
        private let hmac: HMACSHA256

        init(_ bytes: [UInt8]) {
            name = Array(HMACSHA256(key: bytes).code(of: "intertwine image key name".utf8).prefix(2))
            hmac = HMACSHA256(key: bytes, prefix: Array("intertwine image path\0".utf8))
        }

        func tag(of signed: UnsafeRawBufferPointer) -> (UInt64, UInt64) { hmac.half(of: signed) }
    }

    private static let version: UInt8 = 1
    private static let headLength = 1 + 2 + 4
    private static let tagLength = 16
    private static let signatureLength = headLength + tagLength

    private final class KeyList: Sendable {
        let signing: Key
        let all: [Key]

        init(_ keys: [Key]) { (signing, all) = (keys[0], keys) }
    }

    /// They are never released, so a reader may use one without retaining it. Why: each image of each new cell needs a key.
    private let keyLists: Mutex<[KeyList]>
    private let current: Atomic<Unmanaged<KeyList>>
    private let horizonHours: Int64
    private let rotationHours: Int64

    package init?(keys: [[UInt8]], horizonHours: UInt32 = 7 * 24, rotationHours: UInt32 = 30 * 24) {
        guard !keys.isEmpty, keys.allSatisfy({ $0.count >= 16 }), rotationHours >= 24 else { return nil }
        let keys = KeyList(keys.map(Key.init))
        keyLists = Mutex([keys])
        current = Atomic(Unmanaged.passUnretained(keys))
        self.horizonHours = Int64(horizonHours)
        self.rotationHours = Int64(rotationHours)
    }

    package func use(keys: [[UInt8]]) -> Bool {
        guard !keys.isEmpty, keys.allSatisfy({ $0.count >= 16 }) else { return false }
        let keys = KeyList(keys.map(Key.init))
        keyLists.withLock { keyLists in
            keyLists.append(keys)
            current.store(Unmanaged.passUnretained(keys), ordering: .releasing)
        }
        return true
    }

    private func withKeys<Value>(_ body: (KeyList) throws -> Value) rethrows -> Value {
        try current.load(ordering: .acquiring)._withUnsafeGuaranteedRef(body)
    }

    /// `changes`: The time in seconds since 1970 from which another path is issued.
    package func sign(_ source: FetchURL, _ variant: ProcessingOptions? = nil, now: Int64) -> (path: String, changes: Int64) {
        sign(source.text, variant, change: change(of: source.text, after: Int64(Self.hour(now))))
    }

    package func path(forUnencoded source: String, _ variant: ProcessingOptions? = nil, now: Int64) -> String {
        sign(source, variant, change: change(of: source, after: Int64(Self.hour(now)))).path
    }

    private func sign(_ source: String, _ variant: ProcessingOptions?, change: Int64) -> (path: String, changes: Int64) {
        let expiry = UInt32(clamping: change + horizonHours)
        var source = source
        let path = source.withUTF8 { source in
            withKeys { Self.path(UnsafeRawBufferPointer(source), variant, expiry: expiry, key: $0.signing) }
        }
        return (path, change * 3_600)
    }

    private static func path(_ source: UnsafeRawBufferPointer, _ variant: ProcessingOptions?, expiry: UInt32, key: Key) -> String {
        let variant = variant?.bytes ?? []
        let length = Base64URL.length(of: source.count) + (variant.isEmpty ? 0 : 1 + variant.count)
        // The head of the signature and the text after it, in the order in which they are signed.
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

    package func path(for source: FetchURL, _ variant: ProcessingOptions? = nil, now: Int64) -> String {
        sign(source, variant, now: now).path
    }

    private func change(of source: String, after hour: Int64) -> Int64 {
        // FNV-1a distributes the images over the rotation, identically in every process.
        var source = source
        let hash = source.withUTF8 { FNV1a.hash($0) }
        let offset = Int64(hash % UInt64(rotationHours))
        let (steps, rest) = (hour - offset).quotientAndRemainder(dividingBy: rotationHours)
        return ((rest < 0 ? steps - 1 : steps) + 1) * rotationHours + offset
    }

    package struct Verified: Sendable, Hashable {
        /// The path as it was signed, without the escapes of the request.
        package var path: String
        package var source: String
        package var sizing: ResizeMode?
        /// The time of expiry in seconds since 1970.
        package var expires: Int64
    }

    /// Clients and proxies escape characters that need no escape, such as the `@` of a scale. An escaped `/` separates nothing.
    private static func decoded(_ path: String) -> String? {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return path }
        var segments: [String] = []
        for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
            guard let segment = PercentCoding.decode(segment), !segment.utf8.contains(UInt8(ascii: "/")) else { return nil }
            segments.append(segment)
        }
        return segments.joined(separator: "/")
    }

    package func verify(_ path: String, now: Int64) throws(ImageURLError) -> Verified {
        guard let path = Self.decoded(path), path.utf8.starts(with: Self.prefix.utf8) else { throw .malformed }
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
        let received = signature.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: Self.headLength, as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: Self.headLength + 8, as: UInt64.self)
            )
        }
        let isGenuine = withKeys { keys in
            keys.all.contains { key in
                guard key.name == Array(head[1..<3]) else { return false }
                // The comparison takes constant time.
                let tag = signed.withUnsafeBytes(key.tag)
                return (tag.0 ^ received.0) | (tag.1 ^ received.1) == 0
            }
        }
        guard isGenuine else { throw .forged }
        let expiry = UInt32(bigEndianBytes: head[3...])
        guard isValid(until: Int64(expiry) * 3_600, now: now) else { throw .expired }
        guard let source = Base64URL.decode(parts[1]).flatMap({ String(validating: $0, as: UTF8.self) }) else { throw .malformed }
        return Verified(path: path, source: source, sizing: sizing, expires: Int64(expiry) * 3_600)
    }

    /// Why: such a path was issued while the clock was ahead, or before the horizon was shortened. Clocks of two machines may differ by a
    /// day.
    package func isValid(until expires: Int64, now: Int64) -> Bool {
        now < expires && expires <= (Int64(Self.hour(now)) + rotationHours + horizonHours + 24) * 3_600
    }

    private static func hour(_ seconds: Int64) -> UInt32 {
        UInt32(clamping: seconds / 3_600)
    }
}

package enum ImageURLError: Error, Sendable, Hashable {
    case malformed
    case forged
    case expired
}
