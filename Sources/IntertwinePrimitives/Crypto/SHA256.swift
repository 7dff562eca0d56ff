internal import CIntertwineCrypto

/// SHA-256 (FIPS 180-4) of bytes that arrive in parts.
///
/// ```swift
/// var hash = SHA256()
/// hash.update(data: Array("a".utf8))
/// hash.update(data: Array("b".utf8))
/// hash.finalize() == SHA256.hash(data: Array("ab".utf8))  // true
/// ```
///
/// `@unchecked Sendable`: a value that cannot be copied is the only owner of its context.
package struct SHA256: ~Copyable, @unchecked Sendable {
    /// The number of bytes of a block, to which HMAC pads its key.
    static let blockByteCount = 64
    /// The number of bytes of a digest.
    package static let byteCount = 32

    /// The algorithm, looked up once. Why: a look-up takes longer than the digest of a short text.
    ///
    /// If the system's `openssl.cnf` disables it, it comes from a library context that does not read that file: the service cannot work without.
    private nonisolated(unsafe) static let algorithm: OpaquePointer? = {
        // Otherwise the end of the process frees the state of the library while other threads may still use it.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        defer { ERR_clear_error() }
        return EVP_MD_fetch(nil, "SHA256", nil) ?? EVP_MD_fetch(OSSL_LIB_CTX_new(), "SHA256", nil)
    }()

    private let context = EVP_MD_CTX_new()

    /// Begins a digest.
    package init() { Self.check(EVP_DigestInit_ex(context, Self.algorithm, nil)) }

    /// Begins a digest with the bytes of another one.
    init(continuing other: borrowing SHA256) { restart(continuing: other) }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes.
    package mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
        Self.check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// Adds bytes.
    package mutating func update(data: [UInt8]) { data.withUnsafeBytes { update(bufferPointer: $0) } }

    /// Adds bytes.
    package mutating func update(data: ArraySlice<UInt8>) { data.withUnsafeBytes { update(bufferPointer: $0) } }

    /// Ends the digest, and returns it.
    package consuming func finalize() -> SHA256Digest { end() }

    /// Returns the digest of the bytes so far. More bytes may follow.
    package borrowing func digest() -> SHA256Digest { SHA256(continuing: self).end() }

    /// Returns the digest of bytes.
    package static func hash(data: [UInt8]) -> SHA256Digest { data.withUnsafeBytes { hash(data: $0) } }

    /// Returns the digest of bytes.
    package static func hash(data: UnsafeRawBufferPointer) -> SHA256Digest {
        var hash = SHA256()
        hash.update(bufferPointer: data)
        return hash.end()
    }

    /// Ends the digest. Only ``restart(continuing:)`` may follow.
    borrowing func end() -> SHA256Digest {
        var digest = SHA256Digest()
        Self.check(withUnsafeMutableBytes(of: &digest.words) { EVP_DigestFinal_ex(context, $0.baseAddress, nil) })
        return digest
    }

    /// Replaces the state by that of another digest.
    borrowing func restart(continuing other: borrowing SHA256) { Self.check(EVP_MD_CTX_copy_ex(context, other.context)) }

    /// SHA-256 fails only if memory is exhausted. As everywhere in Swift, this ends the process: a wrong digest would make forged values valid.
    private static func check(_ result: Int32) { precondition(result == 1, "SHA-256 has no memory") }
}

/// A digest or a code. The comparison takes constant time.
package struct SHA256Digest: Sendable, Hashable, RandomAccessCollection {
    @usableFromInline var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init() {}

    /// Creates a value that another party computed; nil unless there are exactly 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == SHA256.byteCount else { return nil }
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    }

    @inlinable package var startIndex: Int { 0 }
    @inlinable package var endIndex: Int { SHA256.byteCount }
    @inlinable package subscript(index: Int) -> UInt8 { withUnsafeBytes { $0[index] } }

    /// Passes the bytes to a closure.
    @inlinable package func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try Swift.withUnsafeBytes(of: words, body)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.withUnsafeBytes { one in other.withUnsafeBytes { CRYPTO_memcmp(one.baseAddress, $0.baseAddress, SHA256.byteCount) == 0 } }
    }

    /// Digests are uniformly distributed, so the first word suffices for the hash.
    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
