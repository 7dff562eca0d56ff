internal import IntertwinePrimitives

/// The URLs of items: read as browsers read them, and stored as absolute http or https URLs in ASCII (RFC 3986, RFC 9110 §4.2).
package enum ItemURL {
    /// The maximum length of a URL, in bytes.
    package static let limit = 8_000

    /// The error message for a URL with credentials. Such a URL must not appear in messages.
    static let secret = "must not contain a user name or password"

    static let port = "(?::(?:0*(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?)?"

    /// A name whose last label is no number, an address of IPv4 in its usual form, or an address of IPv6. ``WebURL/isHost(_:)`` accepts a few
    /// rarer forms of addresses too.
    private static let host: String = {
        let (label, noDigit, noDigitNorX) = ("[!$&-\\-0-9;=A-Z_-{}~]", "[!$&-\\-;=A-Z_-{}~]", "[!$&-\\-;=A-WYZ_-wyz{}~]")
        let last = "(?:[1-9][0-9]{0,20}\(noDigit)|0[0-9]{0,20}\(noDigitNorX)|\(noDigit))\(label){0,40}"
        let byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
        let group = "[0-9A-Fa-f]{1,4}"
        let short = "(?:\(group)(?::\(group)){0,3})?::(?:\(group)(?::\(group)){0,2})?"
        return "(?:(?:\(label){1,63}\\.)*\(last)\\.?|\(byte)(?:\\.\(byte)){3}|\\[(?:(?:\(group):){7}\(group)|\(short))\\])"
    }()

    package static let pattern =
        "^[Hh][Tt][Tt][Pp][Ss]?://" + host + port
        + "(?:[/?#][!#-;=?-\\[\\]^-~]*)?$"

    package static func absolute(_ text: ArraySlice<UInt8>, relativeTo base: String? = nil) throws(ItemError) -> ArraySlice<UInt8> {
        guard let fault = error(in: text) else { return text }
        let reason: String
        do throws(WebURL.Failure) {
            let url = Array(try WebURL.absolute(String(decoding: text, as: UTF8.self), relativeTo: base).utf8)[...]
            guard let fault = error(in: url) else { return url }
            reason = fault
        } catch {
            switch error {
            case .userInfo: throw ItemError(reason: secret)
            case .scheme, .relative: reason = "must be an absolute http or https URL"
            case .host, .port: reason = fault
            }
        }
        throw ItemError(reason: "\(reason): \(ItemError.quoted(text))")
    }

    /// A user name before the host is rejected as well, because it can disguise the destination of a link (RFC 9110 §4.2.4).
    package static func error(in url: ArraySlice<UInt8>) -> String? {
        // The buffer pointer avoids a copy. Each image URL and each link of a new cell is validated.
        url.withUnsafeBufferPointer { error(in: $0) }
    }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private static func error(in url: UnsafeBufferPointer<UInt8>) -> String? {
        guard url.count <= limit else { return "is longer than \(limit) bytes" }
        guard let rest = afterScheme(url) else { return "must be an absolute http or https URL" }
        guard !hasForbidden(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: rest))) else {
            return "contains a character that a URL must not have"
        }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard !authority.contains(UInt8(ascii: "@")) else { return secret }
        return error(inHostAndPort: authority)
    }

    private static func hasForbidden(_ text: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index + 8 <= text.count {
            let eight = EightBytes(text.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            if !eight.isASCII || eight.hasByte(below: 0x21) || eight.has(0x7F) || eight.has(UInt8(ascii: "\""))
                || eight.has(UInt8(ascii: "<")) || eight.has(UInt8(ascii: ">")) || eight.has(UInt8(ascii: "\\"))
            {
                return true
            }
            index += 8
        }
        for byte in text[index...] {
            switch byte {
            case 0...0x20, 0x7F...0xFF, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"): return true
            default: break
            }
        }
        return false
    }

    private static func afterScheme(_ url: UnsafeBufferPointer<UInt8>) -> Bytes? {
        afterScheme("https://", url) ?? afterScheme("http://", url)
    }

    private static func afterScheme(_ scheme: StaticString, _ url: UnsafeBufferPointer<UInt8>) -> Bytes? {
        guard url.count >= scheme.utf8CodeUnitCount else { return nil }
        return scheme.withUTF8Buffer { scheme in
            for (byte, wanted) in zip(url, scheme) {
                // Setting the bit for lower case is safe, because it changes no byte of "://" into a byte of the scheme.
                guard byte == wanted || (byte | 0x20 == wanted && wanted >= UInt8(ascii: "a")) else { return nil }
            }
            return url[scheme.count...]
        }
    }

    private static func error(inHostAndPort authority: Bytes) -> String? {
        let host: Bytes
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return "has no valid host" }
            host = authority[...end]
        } else {
            host = authority.prefix { $0 != UInt8(ascii: ":") }
        }
        guard WebURL.isHost(UnsafeBufferPointer(rebasing: host)) else { return "has no valid host" }
        let port = authority[host.endIndex...]
        guard let colon = port.first else { return nil }
        var number = 0
        for digit in port.dropFirst() {
            guard digit &- UInt8(ascii: "0") <= 9 else { return "has no valid port" }
            number = min(number * 10 + Int(digit &- UInt8(ascii: "0")), 65_536)
        }
        return colon == UInt8(ascii: ":") && number <= 65_535 ? nil : "has no valid port"
    }
}
