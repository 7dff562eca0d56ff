import Foundation

/// The action in a slot of a cell, as described by the server. `Actions` performs it.
///
/// ```swift
/// if let action = cell.actions["like"] { button.setTitle(action.label, for: .normal) }
/// ```
public struct Action: Hashable, Sendable {
    /// The operation of an action.
    public enum Kind: Hashable, Sendable {
        /// Fill the named parts of the cell.
        case bind([String: Binding])
        /// Send this request to the server.
        case request(method: String, href: String, body: JSONValue?)
        /// Open this link.
        case link(href: String)
        /// A type that this package does not know, or one with missing members: the action is ignored.
        case other(type: String)
    }

    /// The operation.
    public let kind: Kind
    /// All members, including those that this package does not know.
    public let members: [String: JSONValue]

    /// Decodes an action, an object with a `type`; nil for any other value.
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

    /// Returns the href of a request with its variables expanded (RFC 6570, limited to `{name}`). A variable without a value is empty.
    public func href(_ values: [String: String] = [:]) -> String? {
        guard case .request(_, let href, _) = kind else { return nil }
        guard members["templated"]?.boolean == true else { return href }
        return href.replacing(/\{(\w+)\}/) { FeedClient.escaped(values[String($0.output.1)] ?? "") }
    }

    /// The label for people, if the server provides one.
    public var label: String? { members["label"]?.text }

    /// The JSON Schema of the request's input, if it takes any.
    public var input: JSONValue? { members["input"] }

    /// The time until which the server performs the action.
    public var expiresAt: Date? { members["expiresAt"]?.text.flatMap(Timestamps.date) }
}

/// The value for a part of a cell. A binding with an unknown type, or without a valid value, shows nothing.
///
///     if case .text(let name)? = cell.bindings["username"]?.value { label.text = name }
///     label.text = cell.bindings["username"]?.text                    // the same, shorter
public struct Binding: Hashable, Sendable {
    /// The value, for the types that this package knows.
    public enum Value: Hashable, Sendable {
        case text(String)
        /// The URL of an image.
        case image(String)
        /// A day (`2026-05-01`) or a time (RFC 3339), as received from the server.
        case date(String)
        case number(Double)
        /// An http or https URL, or a relative reference to one.
        case link(String)
        /// The URL of a media file for playback.
        case media(String)
    }

    /// All members, including those that this package does not know.
    public let members: [String: JSONValue]
    /// The value; nil if the type is unknown or the value is invalid.
    public let value: Value?

    /// Decodes a binding from its members.
    public init(_ members: [String: JSONValue]) {
        self.members = members
        value = members["type"]?.text.flatMap { Self.value($0, members) }
    }

    private static func value(_ type: String, _ members: [String: JSONValue]) -> Value? {
        let href = members["href"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        return switch type {
        case "text": members["text"]?.text.map(Value.text)
        case "image": href.map(Value.image)
        case "date": members["date"]?.text.flatMap { Timestamps.date($0) == nil ? nil : .date($0) }
        case "number": members["number"]?.number.map(Value.number)
        case "link": href.flatMap(link)
        case "media": href.map(Value.media)
        default: nil
        }
    }

    private static func link(_ href: String) -> Value? {
        guard let url = URL(string: href) else { return nil }
        return url.scheme.map { ["http", "https"].contains($0.lowercased()) } == false ? nil : .link(href)
    }

    /// The text of a text binding; nil for any other type.
    public var text: String? { if case .text(let text)? = value { text } else { nil } }
    /// The number of a number binding; nil for any other type.
    public var number: Double? { if case .number(let number)? = value { number } else { nil } }
    /// The date of a date binding; nil for any other type.
    public var date: String? { if case .date(let date)? = value { date } else { nil } }
    /// The URL of a link binding; nil for any other type.
    public var link: String? { if case .link(let href)? = value { href } else { nil } }
    /// The URL of a media binding; nil for any other type.
    public var media: String? { if case .media(let href)? = value { href } else { nil } }
    /// The URL of an image binding; nil for any other type.
    public var image: String? { if case .image(let href)? = value { href } else { nil } }

    /// Returns the URL of the image for a scale in pixels per point: with the smallest offered scale that is sufficient, or the largest one.
    public func image(scale: Double) -> String? {
        guard let image else { return nil }
        let scales = (members["scales"]?.array ?? []).compactMap(\.index).sorted()
        guard let offered = scales.first(where: { Double($0) >= scale }) ?? scales.last, offered != scales.first else { return image }
        return "\(image)@\(offered)x"
    }

    /// The size at which the image is shown, if the server provides one.
    public var imageSize: CellSize? {
        guard let width = members["width"]?.number, let height = members["height"]?.number else { return nil }
        return CellSize(width: width, height: height)
    }

    /// The alternative text of the image, for people who do not see it.
    public var alternativeText: String? { members["alt"]?.text }
    /// The placeholder color until the image is loaded: `#a1b2c3`.
    public var color: String? { members["color"]?.text }
    /// The blurred placeholder until the image is loaded: a ThumbHash in base64.
    public var placeholder: String? { members["placeholder"]?.text }
}

/// The date formats of the server.
enum Timestamps {
    /// Parses a time, or a day as its start in UTC.
    static func date(_ text: String) -> Date? {
        if text.utf8.count == 10 { return try? Date.ISO8601FormatStyle().year().month().day().parse(text) }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        return try? style.parse(text)
    }

    static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}
