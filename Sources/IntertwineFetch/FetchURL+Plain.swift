extension FetchURL {
    /// Whether a text is a URL of the plainest kind, which libcurl would leave as it is: http or https, a name of letters, digits, hyphens and
    /// dots that cannot be taken for an address, no port, no user, a path without dot segments, and no character that anybody escapes.
    ///
    /// It is for signing what a feed refers to without asking libcurl each time. Whatever is fetched goes through ``init(_:)`` all the same.
    public static func isPlain(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(isPlain) ?? false
    }

    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count <= longest else { return false }
        let start: Int
        if text.starts(with: "https://".utf8) { start = 8 } else if text.starts(with: "http://".utf8) { start = 7 } else { return false }
        guard let slash = text[start...].firstIndex(of: UInt8(ascii: "/")) else { return false }
        return isPlainName(text[start..<slash]) && isPlainPath(text[slash...])
    }

    /// Each label begins with a letter: no form of an address does in all of them, nor Punycode in any.
    private static func isPlainName(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
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

    /// No segment begins with a dot, so none is `.` or `..`.
    private static func isPlainPath(_ path: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
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
