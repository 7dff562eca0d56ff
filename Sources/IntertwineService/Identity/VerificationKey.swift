internal import IntertwinePrimitives
internal import Synchronization

/// The object is the key's identity: a reloaded set contains the object of each key that it had before, so that cached tokens stay
/// verified.
package final class VerificationKey: Sendable {
    struct Material: Hashable {
        var id: String?
        var algorithm: SignatureAlgorithm
        var digest: SHA256Digest
    }

    private enum Verifier {
        case secret(HMACSHA256)
        case publicKey(PublicKey)
    }

    let material: Material
    private let verifier: Verifier
    private let revoked = Atomic(false)

    init(secret: [UInt8], id: String?) {
        material = Material(id: id, algorithm: .hs256, digest: SHA256.hash(data: secret))
        verifier = .secret(HMACSHA256(key: secret))
    }

    init(_ key: PublicKey, id: String?) {
        let algorithm: SignatureAlgorithm =
            switch key.algorithm {
            case .rs256: .rs256
            case .es256: .es256
            case .edDSA: .edDSA
            }
        material = Material(id: id, algorithm: algorithm, digest: SHA256.hash(data: key.der))
        verifier = .publicKey(key)
    }

    package var id: String? { material.id }
    package var algorithm: SignatureAlgorithm { material.algorithm }

    var isRevoked: Bool { revoked.load(ordering: .acquiring) }

    func revoke() { revoked.store(true, ordering: .releasing) }

    func isValid(_ signature: [UInt8], of signed: ArraySlice<UInt8>) -> Bool {
        switch verifier {
        case .secret(let secret): SHA256Digest(signature) == signed.withUnsafeBytes { secret.code(of: $0) }
        case .publicKey(let key): key.isValid(signature, of: signed)
        }
    }
}

package struct KeySet: Sendable {
    /// Larger sets are refused, because a token without `kid` is verified with each key of its algorithm.
    static let maximumKeys = 32

    package private(set) var keys: [VerificationKey]

    package init(_ keys: [VerificationKey]) {
        self.keys = keys
    }

    func candidates(for token: CompactToken) -> [VerificationKey] {
        keys.filter { $0.algorithm == token.algorithm && (token.key == nil || $0.id == nil || $0.id == token.key) }
    }

    mutating func replace(by new: KeySet) {
        let present = Dictionary(keys.map { ($0.material, $0) }, uniquingKeysWith: { first, _ in first })
        let updated = new.keys.map { present[$0.material] ?? $0 }
        let materials = Set(updated.map(\.material))
        for key in keys where !materials.contains(key.material) { key.revoke() }
        keys = updated
    }
}
