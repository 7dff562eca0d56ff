/// The head of the answer that ended a fetch's chain of redirects.
public struct FetchHead: Sendable {
    public let status: Int
    public let headers: FetchHeaders
    /// Where the answer came from, after redirects.
    public let url: FetchURL
    /// The heads of the redirects that led there, in order.
    public var redirects: [FetchHead] = []

    public init(status: Int, headers: FetchHeaders, url: FetchURL, redirects: [FetchHead] = []) {
        self.status = status
        self.headers = headers
        self.url = url
        self.redirects = redirects
    }

    /// The declared length in bytes; nil where there is none, or none that can be trusted: no number, or several that differ.
    public var contentLength: Int? {
        guard let field = headers["content-length"] else { return nil }
        let lengths = field.split(separator: ",", omittingEmptySubsequences: false).map { text -> Int? in
            let digits = text.trimmingPrefix { $0 == " " || $0 == "\t" }
            return digits.utf8.allSatisfy { (48...57).contains($0) } ? Int(digits) : nil
        }
        guard let first = lengths.first, lengths.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// Whether the end of the body can be found. Lengths that contradict each other are an error that nothing mends, unless a
    /// transfer coding goes before them (RFC 9112 section 6.3).
    var hasSoundLength: Bool {
        headers["content-length"] == nil || headers["transfer-encoding"] != nil || contentLength != nil
    }
}

/// The header fields of one answer, in the order they came; names in lower case.
public struct FetchHeaders: Sendable, Hashable {
    public private(set) var fields: [Field] = []

    public struct Field: Sendable, Hashable {
        public let name: String
        public let value: String
    }

    public init() {}

    public init(_ fields: KeyValuePairs<String, String>) {
        for field in fields {
            append(field.key, field.value)
        }
    }

    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name.lowercased(), value: value))
    }

    /// All the values of a field joined as one list (RFC 9110 section 5.3); nil where there is none.
    /// - Parameter name: in lower case.
    public subscript(name: String) -> String? {
        var joined: String?
        for field in fields where field.name == name {
            joined = joined.map { $0 + ", " + field.value } ?? field.value
        }
        return joined
    }
}
