internal import CIntertwineCurl
internal import Glibc
internal import IntertwinePrimitives

/// An http or https URL, read as browsers read it, in the canonical form of libcurl. Why: the form must be the one that libcurl connects
/// to. If two parsers disagree, address checks can be bypassed (SSRF).
package struct FetchURL: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length in bytes.
    package static let longest = 8_000

    package let text: String
    package let isSecure: Bool
    package let host: String
    package let port: UInt16
    package let address: IPAddress?

    /// A fragment is dropped, because it is never sent.
    package init(_ text: String) throws(FetchError) {
        try self.init(text, base: nil)
    }

    package func resolving(_ reference: String) throws(FetchError) -> FetchURL {
        try FetchURL(reference, base: self.text)
    }

    private init(_ reference: String, base: String?) throws(FetchError) {
        guard !reference.isEmpty, reference.utf8.count <= Self.longest else { throw .malformedURL }
        let absolute: String
        do throws(WebURL.Failure) { absolute = try WebURL.absolute(reference, relativeTo: base) } catch {
            switch error {
            case .scheme: throw .schemeDenied
            case .userInfo: throw .userinfoDenied
            case .relative, .host, .port: throw .malformedURL
            }
        }
        let parsed = try Self.parse(absolute)
        // Parsing the parser's output must return it unchanged: an IDN host may become an address only at the second parse.
        var text = parsed
        for _ in 0..<3 {
            let again = try Self.parse(text)
            if again == text { break }
            text = again
        }
        guard try Self.parse(text) == text, text.utf8.count <= Self.longest else { throw .malformedURL }
        let parts = try CurlURL(text)
        guard let scheme = parts[CURLUPART_SCHEME], let host = parts[CURLUPART_HOST],
            let portText = parts[CURLUPART_PORT, CURLU_DEFAULT_PORT], let port = UInt16(portText), port > 0
        else { throw .malformedURL }
        self.text = text
        isSecure = scheme == "https"
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.port = port
        address = IPAddress(self.host)
        guard address != nil || !host.hasPrefix("[") else { throw .malformedURL }
    }

    package func hasSameOrigin(as other: FetchURL) -> Bool {
        isSecure == other.isSecure && host == other.host && port == other.port
    }

    package var authority: String { address == nil ? "\(host):\(port)" : "[\(host)]:\(port)" }

    package var description: String { text }

    package var withoutQuery: String { text.firstIndex(of: "?").map { text[..<$0] + "?…" } ?? text }

    private static func parse(_ absolute: String) throws(FetchError) -> String {
        let url = try CurlURL(absolute)
        guard let scheme = url[CURLUPART_SCHEME], scheme == "http" || scheme == "https" else { throw .schemeDenied }
        guard url[CURLUPART_USER] == nil, url[CURLUPART_PASSWORD] == nil else { throw .userinfoDenied }
        guard url[CURLUPART_ZONEID] == nil, var host = url.asciiHost?.lowercased() else { throw .malformedURL }
        if host.hasSuffix(".") { host.removeLast() }
        guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { throw .malformedURL }
        try url.set(CURLUPART_HOST, host)
        try url.set(CURLUPART_FRAGMENT, nil)
        guard let text = url[CURLUPART_URL, CURLU_NO_DEFAULT_PORT] else { throw .malformedURL }
        return text
    }
}

private final class CurlURL {
    private let handle: OpaquePointer

    init(_ absolute: String) throws(FetchError) {
        guard let handle = curl_url() else { throw .internalError }
        self.handle = handle
        try set(CURLUPART_URL, absolute)
    }

    deinit {
        curl_url_cleanup(handle)
    }

    func set(_ part: CURLUPart, _ value: String?) throws(FetchError) {
        // Unknown schemes are accepted here, so that they are refused as unknown schemes and not as malformed.
        let flags = part == CURLUPART_URL ? UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_DISALLOW_USER) : 0
        switch curl_url_set(handle, part, value, flags) {
        case CURLUE_OK: return
        case CURLUE_USER_NOT_ALLOWED: throw .userinfoDenied
        case CURLUE_UNSUPPORTED_SCHEME: throw .schemeDenied
        default: throw .malformedURL
        }
    }

    subscript(part: CURLUPart, flags: Int32 = 0) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        let result = curl_url_get(handle, part, &value, UInt32(flags))
        // The value is freed even on failure: libcurl leaves a copy with the error if a host has no ASCII form.
        defer { curl_free(value) }
        guard result == CURLUE_OK, let value else { return nil }
        return String(validatingCString: value)
    }

    /// The host in ASCII. libcurl converts a non-ASCII name to Punycode only if the locale defines the encoding of the bytes.
    var asciiHost: String? {
        let former = Self.utf8.map { uselocale($0) }
        defer { if let former { uselocale(former) } }
        return self[CURLUPART_HOST, CURLU_PUNYCODE]
    }

    // Safe: the locale is created once and never changed or freed. It is set only for the calling thread and the duration of a call.
    private nonisolated(unsafe) static let utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)
}

extension FetchURL {
    /// Returns true if a text is a plain URL, which libcurl would leave unchanged.
    /// The check serves to sign references of a feed without calling libcurl each time.
    package static func isPlain(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(isPlain) ?? false
    }

    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count <= longest else { return false }
        let start: Int
        if begins(text, with: "https://") { start = 8 } else if begins(text, with: "http://") { start = 7 } else { return false }
        guard let slash = text[start...].firstIndex(of: UInt8(ascii: "/")) else { return false }
        return isPlainName(UnsafeBufferPointer(rebasing: text[start..<slash])) && isPlainPath(UnsafeBufferPointer(rebasing: text[slash...]))
    }

    private static func begins(_ text: UnsafeBufferPointer<UInt8>, with scheme: StaticString) -> Bool {
        guard let start = text.baseAddress, text.count >= scheme.utf8CodeUnitCount else { return false }
        return memcmp(start, scheme.utf8Start, scheme.utf8CodeUnitCount) == 0
    }

    private static func isPlainName(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard (1...253).contains(name.count) else { return false }
        var length = 0
        for byte in name {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): length += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9") where length > 0: length += 1
            case UInt8(ascii: "."):
                guard length > 0 else { return false }
                length = 0
            default: return false
            }
            guard length <= 63 else { return false }
        }
        return length > 0
    }

    private static func isPlainPath(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        var last = UInt8(ascii: "a")
        for byte in path {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"):
                break
            case UInt8(ascii: "."):
                guard last != UInt8(ascii: "/") else { return false }
            default: return false
            }
            last = byte
        }
        return true
    }
}
