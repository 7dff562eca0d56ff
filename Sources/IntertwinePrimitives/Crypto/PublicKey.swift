internal import CIntertwineCrypto
internal import Glibc

/// It verifies signatures of one algorithm (RFC 7518 section 3, RFC 8037).
package final class PublicKey: Sendable {
    package enum Algorithm: Sendable, Hashable {
        case rs256
        case es256
        case edDSA
    }

    /// Larger keys would verify slowly.
    private static let sizes: ClosedRange<Int32> = 2_048...8_192
    private static let exponentSizes: ClosedRange<Int32> = 2...33

    package let algorithm: Algorithm
    /// Threads may verify with one key at a time, because that does not change it.
    private nonisolated(unsafe) let key: OpaquePointer

    private init?(owned key: OpaquePointer?) {
        defer { ERR_clear_error() }
        guard let key else { return nil }
        guard let algorithm = Self.algorithm(of: key), Self.isValid(key) else {
            EVP_PKEY_free(key)
            return nil
        }
        (self.key, self.algorithm) = (key, algorithm)
    }

    deinit { EVP_PKEY_free(key) }

    package convenience init?(modulus: [UInt8], exponent: [UInt8]) {
        // Parameters have the byte order of the machine.
        func number(_ bytes: [UInt8]) -> [UInt8] { 1.littleEndian == 1 ? bytes.reversed() : bytes }
        let type = UInt32(OSSL_PARAM_UNSIGNED_INTEGER)
        self.init(owned: Self.key("RSA", [("n", type, number(modulus)), ("e", type, number(exponent))]))
    }

    package convenience init?(x: [UInt8], y: [UInt8]) {
        guard x.count == 32, y.count == 32 else { return nil }
        let curve = ("group" as StaticString, UInt32(OSSL_PARAM_UTF8_STRING), Array("prime256v1\0".utf8))
        // The first byte says that the point is not compressed.
        self.init(owned: Self.key("EC", [curve, ("pub", UInt32(OSSL_PARAM_OCTET_STRING), [4] + x + y)]))
    }

    package convenience init?(ed25519 bytes: [UInt8]) {
        self.init(owned: EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count))
    }

    /// Creates a key from a `SubjectPublicKeyInfo` (RFC 5280 section 4.1.2.7) in DER.
    package convenience init?(der: [UInt8]) {
        self.init(owned: Self.key(der, "SubjectPublicKeyInfo", type: nil))
    }

    package convenience init?(pem: String) {
        guard let (label, der) = Self.content(of: Array(pem.utf8)) else {
            ERR_clear_error()
            return nil
        }
        switch label {
        case "PUBLIC KEY": self.init(der: der)
        case "RSA PUBLIC KEY": self.init(owned: Self.key(der, "type-specific", type: "RSA"))
        case "CERTIFICATE": self.init(owned: Self.key(ofCertificate: der))
        default: return nil
        }
    }

    package var der: [UInt8] {
        defer { ERR_clear_error() }
        return Self.bytes { i2d_PUBKEY(key, &$0) } ?? []
    }

    package func isValid(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        defer { ERR_clear_error() }
        guard let signature = algorithm == .es256 ? Self.der(ofNumbers: signature) : signature, let context = EVP_MD_CTX_new() else {
            return false
        }
        defer { EVP_MD_CTX_free(context) }
        // Ed25519 hashes the message itself. The padding of RSA is PKCS #1 v1.5 unless another is set.
        let digest = algorithm == .edDSA ? nil : "SHA256"
        return message.withUnsafeBufferPointer { message in
            EVP_DigestVerifyInit_ex(context, nil, digest, nil, nil, key, nil) == 1
                && EVP_DigestVerify(context, signature, signature.count, message.baseAddress, message.count) == 1
        }
    }
}

extension PublicKey {
    private static func algorithm(of key: OpaquePointer) -> Algorithm? {
        if EVP_PKEY_is_a(key, "RSA") == 1 { return .rs256 }
        if EVP_PKEY_is_a(key, "ED25519") == 1 { return .edDSA }
        guard EVP_PKEY_is_a(key, "EC") == 1 else { return nil }
        // A curve with explicit parameters is refused (RFC 5480 section 2.1.1).
        var (name, isExplicit) = ([CChar](repeating: 0, count: 64), Int32(1))
        guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1, strcmp(name, "prime256v1") == 0,
            EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit) == 1, isExplicit == 0
        else { return nil }
        return .es256
    }

    private static func isValid(_ key: OpaquePointer) -> Bool {
        guard EVP_PKEY_is_a(key, "RSA") == 1 else {
            guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
            defer { EVP_PKEY_CTX_free(context) }
            return EVP_PKEY_public_check(context) == 1
        }
        var exponent: OpaquePointer?
        defer { BN_free(exponent) }
        return sizes.contains(EVP_PKEY_get_bits(key)) && EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1
            && exponentSizes.contains(BN_num_bits(exponent)) && BN_is_odd(exponent) == 1
    }

    private static func key(_ type: String, _ parameters: [(name: StaticString, type: UInt32, value: [UInt8])]) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var values = parameters.flatMap(\.value)
        return values.withUnsafeMutableBytes { values in
            var rest = values[...]
            var list = parameters.map { parameter in
                let value = UnsafeMutableRawBufferPointer(rebasing: rest.prefix(parameter.value.count))
                rest = rest.dropFirst(value.count)
                let name = UnsafeRawPointer(parameter.name.utf8Start).assumingMemoryBound(to: CChar.self)
                return OSSL_PARAM(key: name, data_type: parameter.type, data: value.baseAddress, data_size: value.count, return_size: 0)
            }
            list.append(OSSL_PARAM_construct_end())
            var key: OpaquePointer?
            guard EVP_PKEY_fromdata_init(context) == 1, EVP_PKEY_fromdata(context, &key, intertwine_public_key, &list) == 1 else {
                return nil
            }
            return key
        }
    }

    private static func key(_ der: [UInt8], _ structure: String, type: String?) -> OpaquePointer? {
        var key: OpaquePointer?
        guard let context = OSSL_DECODER_CTX_new_for_pkey(&key, "DER", structure, type, intertwine_public_key, nil, nil) else { return nil }
        defer { OSSL_DECODER_CTX_free(context) }
        let isWhole = der.withUnsafeBufferPointer { der in
            var (start, rest) = (der.baseAddress, der.count)
            return OSSL_DECODER_from_data(context, &start, &rest) == 1 && rest == 0
        }
        guard isWhole else {
            EVP_PKEY_free(key)
            return nil
        }
        return key
    }

    private static func key(ofCertificate der: [UInt8]) -> OpaquePointer? {
        der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            guard let certificate = d2i_X509(nil, &start, der.count) else { return nil }
            defer { X509_free(certificate) }
            return start == der.baseAddress.map { $0 + der.count } ? X509_get_pubkey(certificate) : nil
        }
    }

    private static func content(of text: [UInt8]) -> (label: String, der: [UInt8])? {
        text.withUnsafeBufferPointer { text in
            guard let source = BIO_new_mem_buf(text.baseAddress, Int32(clamping: text.count)) else { return nil }
            defer { BIO_free(source) }
            var (label, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
            var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
            guard PEM_read_bio(source, &label, &header, &bytes, &count) == 1, let label, let header, let bytes else { return nil }
            defer { for memory in [UnsafeMutableRawPointer(label), .init(header), .init(bytes)] { CRYPTO_free(memory, nil, 0) } }
            guard header.pointee == 0 else { return nil }
            return (String(cString: label), Array(UnsafeBufferPointer(start: bytes, count: count)))
        }
    }

    private static func der(ofNumbers signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64, let pair = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(pair) }
        let numbers = [signature.prefix(32), signature.suffix(32)].map { $0.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) } }
        guard ECDSA_SIG_set0(pair, numbers[0], numbers[1]) == 1 else {
            numbers.forEach(BN_free)
            return nil
        }
        return bytes { i2d_ECDSA_SIG(pair, &$0) }
    }

    private static func bytes(_ encode: (inout UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8]? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = encode(&bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        return count > 0 ? Array(UnsafeBufferPointer(start: bytes, count: Int(count))) : nil
    }
}
