internal import HTTPTypes
internal import IntertwineHTTPServer

/// What the fields of a request say of who made it, gathered in one pass: every click is looked at for all of them.
struct ClientFields {
    let isHead: Bool
    private(set) var viewer: String?
    /// A viewer has one name: of two that are told nobody knows which is meant.
    private(set) var viewerIsRepeated = false
    private(set) var userAgent: String?
    private(set) var forwardedFor: String?
    /// The values of `DNT` and `Sec-GPC`.
    private(set) var wishes: [String] = []
    /// The values of `Sec-Purpose` and of those before it.
    private(set) var purposes: [String] = []

    /// - Parameter viewerField: the field that names the viewer, in lower case.
    init(_ request: HTTPRequest, viewerField: String?) {
        isHead = request.method == .head
        for field in request.headerFields { add(field.name.canonicalName, viewerField) { field.value } }
    }

    /// The same of a request that nothing has been made of.
    init(_ head: borrowing RequestHead, viewerField: String?) {
        isHead = head.method == .head
        head.forEachField { name, value in add(name, viewerField, value) }
    }

    private mutating func add(_ name: String, _ viewerField: String?, _ value: () -> String) {
        // It may be one of the others too.
        if name == viewerField {
            viewerIsRepeated = viewer != nil
            viewer = value()
        }
        switch name {
        case "user-agent": Self.add(value(), to: &userAgent)
        case "x-forwarded-for": Self.add(value(), to: &forwardedFor)
        case "dnt", "sec-gpc": wishes.append(value())
        case "sec-purpose", "purpose", "x-purpose", "x-moz": purposes.append(value())
        default: break
        }
    }

    /// A field that stands there more than once is one list (RFC 9110, 5.3).
    private static func add(_ value: String, to joined: inout String?) {
        joined = joined.map { "\($0), \(value)" } ?? value
    }
}
