import Foundation

/// What a slot of a cell does, as the server tells it.
public struct Action: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Fill the named parts of the cell.
        case bind([String: Binding])
        /// Send this to the server.
        case request(method: String, href: String, body: JSONValue?)
        /// Follow it.
        case link(href: String)
        /// A type that this package does not know, or one that lacks what its type needs: there is nothing to do.
        case other(type: String)
    }

    public let kind: Kind
    /// All members, those included that this package does not know.
    public let members: [String: JSONValue]

    /// Nil where it is no action: an object with a `type`.
    public init?(_ value: JSONValue) {
        guard let members = value.object, let type = members["type"]?.text else { return nil }
        self.members = members
        kind = Self.kind(type, members) ?? .other(type: type)
    }

    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    private static func kind(_ type: String, _ members: [String: JSONValue]) -> Kind? {
        switch type {
        case "bind":
            members["bindings"]?.object.map { .bind($0.compactMapValues { $0.object.map(Binding.init) }) }
        case "request":
            if let href = members["href"]?.text, let method = members["method"]?.text, methods.contains(method) {
                .request(method: method, href: href, body: members["body"])
            } else {
                nil
            }
        case "link":
            members["href"]?.text.map { .link(href: $0) }
        default:
            nil
        }
    }

    /// The href of a request, its variables filled in (RFC 6570, as far as `{name}`); one without a value is empty.
    public func href(_ values: [String: String] = [:]) -> String? {
        guard case .request(_, let href, _) = kind else { return nil }
        guard members["templated"]?.boolean == true else { return href }
        return href.replacing(/\{(\w+)\}/) { FeedClient.escaped(values[String($0.output.1)] ?? "") }
    }

    /// What a person is told that it does, where the server says so.
    public var label: String? { members["label"]?.text }

    /// The JSON Schema of what the request takes, where it takes anything.
    public var input: JSONValue? { members["input"] }

    /// Until when the server performs it.
    public var expires: Date? { members["expires"]?.text.flatMap(Timestamps.date) }
}

/// What a part of a cell is filled with. A value that is none of its type shows nothing.
public struct Binding: Hashable, Sendable {
    /// What is shown, of the types that this package knows.
    public enum Value: Hashable, Sendable {
        case text(String)
        case image(String)
        case date(String)
        case number(Double)
        case link(String)
        /// Where what is played lies.
        case media(String)
    }

    public let members: [String: JSONValue]

    public init(_ members: [String: JSONValue]) {
        self.members = members
    }

    public var value: Value? {
        text.map(Value.text) ?? image.map(Value.image) ?? date.map(Value.date) ?? number.map(Value.number) ?? link.map(Value.link)
            ?? media.map(Value.media)
    }

    public var text: String? { members["text"]?.text }
    public var number: Double? { members["number"]?.number }
    /// A day (`2026-05-01`) or a moment (RFC 3339), as the server wrote it.
    public var date: String? { members["date"]?.text.flatMap { Timestamps.date($0) == nil ? nil : $0 } }
    /// An http or https URL, or a reference to one.
    public var link: String? {
        members["link"]?.text.flatMap { link in
            guard let url = URL(string: link), !link.isEmpty else { return nil }
            return url.scheme.map { ["http", "https"].contains($0.lowercased()) } == false ? nil : link
        }
    }
    /// Where what is played lies.
    public var media: String? { members["media"]?.text.flatMap { $0.isEmpty ? nil : $0 } }
    /// Where the picture is.
    public var image: String? { members["image"]?.text.flatMap { $0.isEmpty ? nil : $0 } }
    /// Where the picture is for a screen of so many pixels a point: at the smallest scale offered that is no smaller, or the largest.
    public func image(scale: Double) -> String? {
        guard let image else { return nil }
        let scales = (members["scales"]?.array ?? []).compactMap(\.index).sorted()
        guard let offered = scales.first(where: { Double($0) >= scale }) ?? scales.last, offered != scales.first else { return image }
        return "\(image)@\(offered)x"
    }

    /// The size that the picture is shown at, where the server says so.
    public var imageSize: CellSize? {
        guard let width = members["width"]?.number, let height = members["height"]?.number else { return nil }
        return CellSize(width: width, height: height)
    }

    /// What the picture shows, for those who do not see it.
    public var alternativeText: String? { members["alt"]?.text }
    /// The colour that stands for the picture until it is there: `#a1b2c3`.
    public var color: String? { members["color"]?.text }
    /// A blurred likeness that stands for the picture until it is there: a ThumbHash in base64.
    public var placeholder: String? { members["placeholder"]?.text }
}

/// Moments as the server writes them.
enum Timestamps {
    /// A moment, or the beginning of a day in UTC.
    static func date(_ text: String) -> Date? {
        if text.utf8.count == 10 { return try? Date.ISO8601FormatStyle().year().month().day().parse(text) }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        return try? style.parse(text)
    }

    static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}
