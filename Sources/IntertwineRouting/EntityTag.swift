internal import Crypto
internal import IntertwinePrimitives

/// Strong validators of content (RFC 9110 section 8.8.3).
package enum EntityTag {
    /// Another one for every other body.
    package static func of(_ body: [UInt8]) -> String {
        "\"" + Hexadecimal.text(SHA256.hash(data: body).prefix(12)) + "\""
    }

    /// The tag of a body that has a digest.
    package static func of(digest: [UInt8]) -> [UInt8] {
        var tag: [UInt8] = []
        tag.reserveCapacity(2 * digest.count + 2)
        tag.append(UInt8(ascii: "\""))
        for byte in digest {
            tag.append(Hexadecimal.digit(byte >> 4))
            tag.append(Hexadecimal.digit(byte))
        }
        tag.append(UInt8(ascii: "\""))
        return tag
    }
}
