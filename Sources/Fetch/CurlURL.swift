internal import CCurl
internal import Glibc

/// libcurl's URL parser.
final class CurlURL {
    private let handle: OpaquePointer

    init(_ reference: String, base: String?) throws(FetchFailure) {
        guard let handle = curl_url() else { throw .internalError }
        self.handle = handle
        if let base {
            try set(CURLUPART_URL, base)
        }
        try set(CURLUPART_URL, reference)
    }

    deinit {
        curl_url_cleanup(handle)
    }

    func set(_ part: CURLUPart, _ value: String?) throws(FetchFailure) {
        // Unknown schemes are let through here, so that they are refused as such and not as malformed.
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
        // To be freed where it is no result too: of a host that has no form in ASCII, libcurl leaves its copy behind with the error.
        defer { curl_free(value) }
        guard result == CURLUE_OK, let value else { return nil }
        return String(validatingCString: value)
    }

    /// The host in ASCII. curl turns a name in other letters into Punycode only where the locale says which letters the bytes are.
    var asciiHost: String? {
        let former = Self.utf8.map { uselocale($0) }
        defer { if let former { uselocale(former) } }
        return self[CURLUPART_HOST, CURLU_PUNYCODE]
    }

    // Safe: made once, never changed, never freed. Set for the calling thread alone, and only for the length of a call.
    private nonisolated(unsafe) static let utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)
}
