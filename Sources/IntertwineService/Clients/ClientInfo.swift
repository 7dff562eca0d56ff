internal import HTTPTypes
internal import IntertwineHTTPServer

/// The facts about a client that the fields of its request state, collected in one pass. Why: every click reads them.
struct ClientInfo {
    /// Longer values are truncated, so that clients cannot fill the ledger.
    private static let longestUserAgent = 256

    /// The names of the fields that configuration chooses, in lower case; nil for a field that is not read.
    struct FieldNames {
        var viewer: String?
        var attributes: String?
        var languages: String?
    }

    let isHead: Bool
    let peer: String
    private(set) var viewer: String?
    /// True if the request has two names of a viewer, so that the viewer is ambiguous.
    private(set) var viewerIsRepeated = false
    private(set) var attributes: String?
    private(set) var languages: String?
    private(set) var userAgents: String?
    private(set) var forwardedFor: String?
    private(set) var optsOut = false
    private(set) var purposes: [String] = []
    private var fetchSite: String?
    private var fetchMode: String?
    private var fetchDestination: String?
    private var fetchUser: String?

    var isForeignSubresource: Bool {
        guard fetchSite == "cross-site" || fetchSite == "same-site" else { return false }
        return fetchMode != "navigate" || fetchDestination != "document"
    }

    var isUnasked: Bool { fetchSite == "cross-site" && fetchMode == "navigate" && fetchUser != "?1" }

    var userAgent: String? { userAgents.map { $0.prefix(bytes: Self.longestUserAgent) } }

    init(_ request: HTTPRequest, from peer: String, _ names: FieldNames) {
        (isHead, self.peer) = (request.method == .head, peer)
        for field in request.headerFields { add(field.name.canonicalName, names) { field.value } }
    }

    init(_ head: borrowing RequestHead, from peer: String, _ names: FieldNames) {
        (isHead, self.peer) = (head.method == .head, peer)
        head.forEachField { name, value in add(name, names, value) }
    }

    private mutating func add(_ name: String, _ names: FieldNames, _ value: () -> String) {
        if name == names.viewer {
            viewerIsRepeated = viewer != nil
            viewer = value()
        }
        if name == names.attributes { Self.add(value(), to: &attributes) }
        if name == names.languages { Self.add(value(), to: &languages) }
        switch name {
        case "user-agent": Self.add(value(), to: &userAgents)
        case "x-forwarded-for": Self.add(value(), to: &forwardedFor)
        case "dnt", "sec-gpc": optsOut = optsOut || Self.isOptOut(value())
        case "sec-purpose", "purpose", "x-purpose", "x-moz": purposes.append(value())
        case "sec-fetch-site": fetchSite = value()
        case "sec-fetch-mode": fetchMode = value()
        case "sec-fetch-dest": fetchDestination = value()
        case "sec-fetch-user": fetchUser = value()
        default: break
        }
    }

    private static func isOptOut(_ value: String) -> Bool { value.split(separator: ",").contains { $0.trimmed == "1" } }

    /// Appends a value of a field that occurs more than once, as one list (RFC 9110 section 5.3).
    private static func add(_ value: String, to joined: inout String?) {
        joined = joined.map { "\($0), \(value)" } ?? value
    }
}

extension String {
    fileprivate func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
