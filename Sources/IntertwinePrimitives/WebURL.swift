internal import Foundation

/// URLs as browsers read them (the URL standard of WHATWG), for http and https.
/// People's APIs write URLs that browsers accept and RFC 3986 does not: with white space, other letters than ASCII, backslashes, or without
/// a scheme.
package enum WebURL {
    /// The reason why a text is not an absolute http or https URL.
    package enum Failure: Error, Sendable {
        case scheme, relative
        case userInfo
        case host, port
    }

    package static func absolute(_ text: String, relativeTo base: String? = nil) throws(Failure) -> String {
        var bytes = Array(text.utf8)[...]
        while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        bytes.removeAll { $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        let (scheme, rest) = parts(bytes)
        let known = base.map { parts(Array($0.utf8)[...]) }
        if let scheme {
            guard scheme == "http" || scheme == "https" else { throw .scheme }
            guard known?.scheme == scheme, !rest.prefix(2).elementsEqual("//".utf8) else {
                return try absolute(scheme, rest.drop(while: isSlash))
            }
        }
        let isSchemeMissing = rest.count >= 2 && rest.prefix(2).allSatisfy(isSlash)
        if isSchemeMissing { return try absolute(scheme ?? known?.scheme ?? "https", rest.drop(while: isSlash)) }
        guard let known, let base = known.scheme else { throw .relative }
        let document = known.rest.drop(while: isSlash)
        let authority = document.prefix { !endsAuthority($0) }
        let path = document[authority.endIndex...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let start: ArraySlice<UInt8>
        switch rest.first {
        case nil, UInt8(ascii: "#"): start = document.prefix { $0 != UInt8(ascii: "#") }
        case UInt8(ascii: "?"): start = authority + path
        case let first? where isSlash(first): start = authority
        default: start = authority + (path.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? [UInt8(ascii: "/")])
        }
        return try absolute(base, start + rest)
    }

    private static func parts(_ text: ArraySlice<UInt8>) -> (scheme: String?, rest: ArraySlice<UInt8>) {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), let first = text.first, (first | 0x20) &- UInt8(ascii: "a") < 26,
            text[..<colon].allSatisfy({ ($0 | 0x20) &- UInt8(ascii: "a") < 26 || $0 &- UInt8(ascii: "0") < 10 || "+-.".utf8.contains($0) })
        else { return (nil, text) }
        return (String(decoding: text[..<colon], as: UTF8.self).lowercased(), text[(colon + 1)...])
    }

    private static func absolute(_ scheme: String, _ rest: ArraySlice<UInt8>) throws(Failure) -> String {
        let authority = rest.prefix { !endsAuthority($0) }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userInfo }
        let isAddress = authority.first == UInt8(ascii: "[")
        let end = isAddress ? authority.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : authority.firstIndex(of: UInt8(ascii: ":"))
        let name = authority[..<(end ?? authority.endIndex)]
        var url = "\(scheme)://\(try isAddress ? String(decoding: name, as: UTF8.self) : host(name))"
        if let port = try port(authority[name.endIndex...]), port != (scheme == "https" ? 443 : 80) { url += ":\(port)" }
        var isInPath = true
        var tail: [UInt8] = []
        for byte in rest[authority.endIndex...] {
            if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { isInPath = false }
            if tail.isEmpty, !isSlash(byte) { tail.append(UInt8(ascii: "/")) }
            switch byte {
            case UInt8(ascii: "\\") where isInPath: tail.append(UInt8(ascii: "/"))
            case 0...0x20, 0x7F...0xFF, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"):
                tail.append(contentsOf: PercentCoding.encode(CollectionOfOne(byte), keeping: .unreserved).utf8)
            default: tail.append(byte)
            }
        }
        return url + (tail.isEmpty ? "/" : String(decoding: tail, as: UTF8.self))
    }

    private static func host(_ name: ArraySlice<UInt8>) throws(Failure) -> String {
        guard let host = PercentCoding.decode(Substring(decoding: name, as: UTF8.self)), !host.isEmpty else { throw .host }
        let isASCII = host.utf8.allSatisfy { $0 < 0x80 }
        let ascii = isASCII ? host : URL(string: "https://\(host)/").map { String($0.absoluteString.dropFirst(8).dropLast()) }
        guard let ascii, ascii.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"#%/:<>?@[\\]^|".utf8.contains($0) }) else { throw .host }
        return ascii
    }

    private static func port(_ text: ArraySlice<UInt8>) throws(Failure) -> UInt16? {
        guard let colon = text.first else { return nil }
        let digits = text.dropFirst().drop { $0 == UInt8(ascii: "0") }
        guard colon == UInt8(ascii: ":"), digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { throw .port }
        if digits.isEmpty { return text.count > 1 ? 0 : nil }
        guard let port = UInt16(String(decoding: digits, as: UTF8.self)) else { throw .port }
        return port
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    private static func endsAuthority(_ byte: UInt8) -> Bool { isSlash(byte) || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
}
