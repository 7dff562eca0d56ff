@testable import IntertwinePrimitives

/// Tokens with a secret of any length, as an attacker makes them: the library refuses to.
enum HMACToken {
    static func token(secret: [UInt8], header: String, payload: String) -> [UInt8] {
        let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        let code = HMACSHA256(key: secret).code(of: signed.utf8)
        return Array((signed + "." + Base64URL.encode(code)).utf8)
    }
}
