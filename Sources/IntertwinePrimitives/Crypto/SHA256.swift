internal import CIntertwineCrypto

/// `@unchecked Sendable`: a value that cannot be copied is the only owner of its context.
package struct SHA256: ~Copyable, @unchecked Sendable {
    static let blockByteCount = 64
    package static let byteCount = 32

    /// The algorithm, looked up once. Why: a look-up takes longer than the digest of a short text.
    private nonisolated(unsafe) static let algorithm: OpaquePointer? = {
        // Otherwise the end of the process frees the state of the library while other threads may still use it.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        defer { ERR_clear_error() }
        return EVP_MD_fetch(nil, "SHA256", nil) ?? EVP_MD_fetch(OSSL_LIB_CTX_new(), "SHA256", nil)
    }()

    private let context = EVP_MD_CTX_new()

    package init() { Self.check(EVP_DigestInit_ex(context, Self.algorithm, nil)) }

    init(continuing other: borrowing SHA256) { restart(continuing: other) }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
        Self.check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    package mutating func update(data: [UInt8]) { data.withUnsafeBytes { update(bufferPointer: $0) } }

    package mutating func update(data: ArraySlice<UInt8>) { data.withUnsafeBytes { update(bufferPointer: $0) } }

    package consuming func finalize() -> SHA256Digest { end() }

    package borrowing func digest() -> SHA256Digest { SHA256(continuing: self).end() }

    package static func hash(data: [UInt8]) -> SHA256Digest { data.withUnsafeBytes { hash(data: $0) } }

    package static func hash(data: UnsafeRawBufferPointer) -> SHA256Digest {
        var hash = SHA256()
        hash.update(bufferPointer: data)
        return hash.end()
    }

    borrowing func end() -> SHA256Digest {
        var digest = SHA256Digest()
        Self.check(withUnsafeMutableBytes(of: &digest.words) { EVP_DigestFinal_ex(context, $0.baseAddress, nil) })
        return digest
    }

    borrowing func restart(continuing other: borrowing SHA256) { Self.check(EVP_MD_CTX_copy_ex(context, other.context)) }

    /// As everywhere in Swift, this ends the process: a wrong digest would make forged values valid.
    private static func check(_ result: Int32) { precondition(result == 1, "SHA-256 has no memory") }
}

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

    @inlinable package func withUnsafeBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try Swift.withUnsafeBytes(of: words, body)
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.withUnsafeBytes { one in other.withUnsafeBytes { CRYPTO_memcmp(one.baseAddress, $0.baseAddress, SHA256.byteCount) == 0 } }
    }

    /// Digests are uniformly distributed, so the first word suffices for the hash.
    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
