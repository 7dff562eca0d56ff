public import Foundation

/// The value for a part of a cell. A binding with an unknown type, or without a valid value, shows nothing.
///
/// ```swift
/// if case .text(let name)? = cell.bindings["username"]?.value { label.text = name }
/// label.text = cell.bindings["username"]?.text                    // the same, shorter
/// ```
public struct CellBinding: Hashable, Sendable {
    /// The value, for the types that this package knows.
    public enum Value: Hashable, Sendable {
        /// A text in the requested language.
        case text(String)
        /// An image in its smallest scale; `image(scale:)` returns the others.
        case image(URL)
        /// A time, or a day as its start in UTC; see `isDay`.
        case date(Date)
        /// A number, which the app formats.
        case number(Double)
        /// An http or https URL.
        case link(URL)
        /// A media file for playback.
        case media(URL)
    }

    /// All members, including those that this package does not know.
    public let members: [String: JSONValue]
    /// The value; nil if the type is unknown or the value is invalid.
    public let value: Value?

    /// Decodes a binding from its members.
    ///
    /// - Parameter base: The URL to which links are relative.
    public init(_ members: [String: JSONValue], base: URL? = nil) {
        self.members = members
        value = members["type"]?.text.flatMap { Self.value($0, members, base) }
    }

    private static func value(_ type: String, _ members: [String: JSONValue], _ base: URL?) -> Value? {
        let url = members["href"]?.text.flatMap { $0.isEmpty ? nil : URL(href: $0, base: base) }
        return switch type {
        case "text": members["text"]?.text.map(Value.text)
        case "image": url.map(Value.image)
        case "date": members["date"]?.text.flatMap(Timestamps.date).map(Value.date)
        case "number": members["number"]?.number.map(Value.number)
        case "link": url.flatMap { url in url.isWeb ? .link(url) : nil }
        case "media": url.map(Value.media)
        default: nil
        }
    }

    /// The text of a text binding; nil for any other type.
    public var text: String? { if case .text(let text)? = value { text } else { nil } }
    /// The number of a number binding; nil for any other type.
    public var number: Double? { if case .number(let number)? = value { number } else { nil } }
    /// The date of a date binding; nil for any other type.
    public var date: Date? { if case .date(let date)? = value { date } else { nil } }
    /// The URL of a link binding; nil for any other type.
    public var link: URL? { if case .link(let url)? = value { url } else { nil } }
    /// The URL of a media binding; nil for any other type.
    public var media: URL? { if case .media(let url)? = value { url } else { nil } }
    /// The URL of an image binding; nil for any other type.
    public var image: URL? { if case .image(let url)? = value { url } else { nil } }

    /// A Boolean value indicating whether the date is a day without a time. Format such a date in UTC.
    public var isDay: Bool { date != nil && members["date"]?.text?.utf8.count == 10 }

    /// Returns the URL of the image for a scale in pixels per point: with the smallest offered scale that is sufficient, or the largest one.
    ///
    /// ```swift
    /// // A binding whose href is "/images/1" and whose scales are 1, 2 and 3.
    /// binding.image(scale: 2)  // /images/1@2x
    /// ```
    public func image(scale: Double) -> URL? {
        guard let image else { return nil }
        let scales = (members["scales"]?.array ?? []).compactMap(\.index).sorted()
        guard let offered = scales.first(where: { Double($0) >= scale }) ?? scales.last, offered != scales.first else { return image }
        return URL(string: "\(image.absoluteString)@\(offered)x")
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

extension URL {
    /// Creates the absolute URL of an href; nil if it is invalid. Without a base, the URL of a relative href is relative.
    init?(href: String, base: URL?) {
        guard let url = URL(string: href, relativeTo: base) else { return nil }
        self = url.absoluteURL
    }

    /// True if the URL is relative, or has the scheme http or https.
    var isWeb: Bool { scheme.map { ["http", "https"].contains($0.lowercased()) } ?? true }
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
