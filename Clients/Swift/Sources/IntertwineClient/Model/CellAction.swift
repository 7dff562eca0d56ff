public import Foundation

/// The action in a slot of a cell, as described by the server. `Actions` performs it.
///
/// ```swift
/// if let action = cell.actions[.custom("like")] { button.setTitle(action.label, for: .normal) }
/// ```
public struct CellAction: Hashable, Sendable {
    /// The operation of an action.
    public enum Kind: Hashable, Sendable {
        /// Fill the named parts of the cell.
        case bind([String: CellBinding])
        /// Send this request to the server. The href can be a template, which `href(_:)` expands.
        case request(method: String, href: String, body: JSONValue?)
        /// Open this link.
        case link(URL)
        /// A type that this package does not know, or one with missing members: the action is ignored.
        case other(type: String)
    }

    /// The operation.
    public let kind: Kind
    /// All members, including those that this package does not know.
    public let members: [String: JSONValue]

    /// Decodes an action, an object with a `type`; nil for any other value.
    ///
    /// - Parameter base: The URL to which links are relative.
    public init?(_ value: JSONValue, base: URL? = nil) {
        guard let members = value.object, let type = members["type"]?.text else { return nil }
        self.members = members
        kind = Self.kind(type, members, base) ?? .other(type: type)
    }

    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    private static func kind(_ type: String, _ members: [String: JSONValue], _ base: URL?) -> Kind? {
        switch type {
        case "bind":
            members["bindings"]?.object.map { .bind($0.compactMapValues { $0.object.map { CellBinding($0, base: base) } }) }
        case "request":
            if let href = members["href"]?.text, let method = members["method"]?.text, methods.contains(method) {
                .request(method: method, href: href, body: members["body"])
            } else {
                nil
            }
        case "link":
            members["href"]?.text.flatMap { URL(href: $0, base: base) }.map { .link($0) }
        default:
            nil
        }
    }

    /// Returns the href of a request with its variables expanded (RFC 6570, limited to `{name}`). A variable without a value is empty.
    ///
    /// ```swift
    /// // An action with the template "/search?q={text}".
    /// action.href(["text": "ramen"])  // "/search?q=ramen"
    /// ```
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

/// The name of a slot of a cell.
///
/// ```swift
/// try await actions.perform(.custom("like"), of: cell)
/// ```
public struct CellSlot: RawRepresentable, Hashable, Sendable, Codable {
    /// The name, as the server spells it.
    public let rawValue: String

    /// Creates the slot of a name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Returns the slot that a kind of item declares under a name.
    public static func custom(_ name: String) -> CellSlot { CellSlot(rawValue: name) }

    /// Fills the parts of the cell.
    public static let configuration = CellSlot(rawValue: "configuration")
    /// The tap on the cell.
    public static let selection = CellSlot(rawValue: "selection")
    /// Reverts the selection.
    public static let deselection = CellSlot(rawValue: "deselection")
    /// Removes the cell from the viewer's feed.
    public static let dismissal = CellSlot(rawValue: "dismissal")
    /// Reports that the cell was visible.
    public static let impression = CellSlot(rawValue: "impression")
    /// Cancels the requests of the cell's images.
    public static let cancellation = CellSlot(rawValue: "cancellation")
}
