internal import Foundation
internal import Glibc

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
        var url = "\(scheme)://\(try host(name))"
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

    /// Returns the host in ASCII and lower case.
    package static func host(_ name: ArraySlice<UInt8>) throws(Failure) -> String {
        if name.first == UInt8(ascii: "[") {
            guard name.withUnsafeBufferPointer(isHost) else { throw .host }
            return String(decoding: name, as: UTF8.self).lowercased()
        }
        guard let host = PercentCoding.decode(Substring(decoding: name, as: UTF8.self)), !host.isEmpty else { throw .host }
        let isASCII = host.utf8.allSatisfy { $0 < 0x80 }
        let ascii = isASCII ? host : URL(string: "https://\(host)/").map { String($0.absoluteString.dropFirst(8).dropLast()) }
        guard let ascii = ascii?.lowercased(), Array(ascii.utf8).withUnsafeBufferPointer(isHost) else { throw .host }
        return ascii
    }

    /// True for an address in brackets, and for a name that browsers accept and DNS can have. A name that ends with a number is an address.
    package static func isHost(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
        if host.first == UInt8(ascii: "[") {
            var address = in6_addr()
            let text = String(decoding: host.dropFirst().dropLast(), as: UTF8.self)
            return host.last == UInt8(ascii: "]") && inet_pton(AF_INET6, text, &address) == 1
        }
        let name = host.last == UInt8(ascii: ".") ? host.dropLast() : host[...]
        guard name.count <= 253 else { return false }
        var rest = name
        while true {
            let label = rest.prefix { $0 != UInt8(ascii: ".") }
            guard 1...63 ~= label.count, label.allSatisfy(isPartOfLabel), !isEmptyPunycode(label) else { return false }
            rest = rest[label.endIndex...].dropFirst()
            if label.endIndex < name.endIndex { continue }
            guard isNumber(label) else { return true }
            var address = in_addr()
            return inet_aton(String(decoding: name, as: UTF8.self), &address) == 1
        }
    }

    private static func isPartOfLabel(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7F...0xFF: false
        case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "<"),
            UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "[")...UInt8(ascii: "^"), UInt8(ascii: "|"):
            false
        default: true
        }
    }

    private static func isEmptyPunycode(_ label: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        label.count == 4 && zip(label, "xn--".utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }

    private static func isNumber(_ label: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let isDigit: (UInt8) -> Bool = { $0 &- UInt8(ascii: "0") < 10 }
        guard let first = label.first, isDigit(first) else { return false }
        guard first == UInt8(ascii: "0"), let mark = label.dropFirst().first, mark | 0x20 == UInt8(ascii: "x") else {
            return label.allSatisfy(isDigit)
        }
        return label.dropFirst(2).allSatisfy { isDigit($0) || ($0 | 0x20) &- UInt8(ascii: "a") < 6 }
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
