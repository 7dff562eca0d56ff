import Crypto
import IntertwinePrimitives

/// Tokens with a secret of any length, as an attacker makes them: the library refuses to.
enum HMACToken {
    static func token(secret: [UInt8], header: String, payload: String) -> [UInt8] {
        let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: SymmetricKey(data: secret))
        return Array((signed + "." + Base64URL.encode(Array(code))).utf8)
    }
}
