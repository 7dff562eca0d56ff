internal import HTTPTypes
internal import IntertwinePrimitives

/// The deprecation of a route: its start, its planned end, and a page about the replacement.
/// All responses of the route carry `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and a `Link` with the relation `deprecation`.
struct Deprecation: Sendable, Hashable {
    /// The start of the deprecation in seconds since 1970-01-01 UTC.
    var since: Int64
    /// The end of the route in seconds since 1970-01-01 UTC; nil if not decided.
    var sunset: Int64?
    var reason: String

    var fields: HTTPFields {
        var fields: HTTPFields = [.link: "<\(reason)>; rel=\"deprecation\"; type=\"text/html\""]
        fields[.deprecation] = "@\(since)"
        fields[.sunset] = sunset.map(HTTPDate.text)
        return fields
    }

    var text: String {
        "Deprecated since \(HTTPDate.text(since))\(sunset.map { ", there until \(HTTPDate.text($0))" } ?? ""): [what to use in its place](\(reason))."
    }
}

extension HTTPField.Name {
    fileprivate static let link = known("Link")
    fileprivate static let deprecation = known("Deprecation")
    fileprivate static let sunset = known("Sunset")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let known = HTTPField.Name(name) else { preconditionFailure("\(name) is not a token (RFC 9110 section 5.1)") }
        return known
    }
}
