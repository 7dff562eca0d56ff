internal import Crypto
internal import IntertwinePrimitives

/// Strong validators of content (RFC 9110 section 8.8.3).
package enum EntityTag {
    /// Another one for every other body.
    package static func of(_ body: [UInt8]) -> String {
        "\"" + Hexadecimal.text(SHA256.hash(data: body).prefix(12)) + "\""
    }
}
