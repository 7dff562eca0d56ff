import Foundation

/// A registry of the app's views by cell identifier, like the registrations of UIKit, for any type of view.
///
/// ```swift
/// let registry = CellRegistry<UILabel>()
/// registry.register("UserTableViewCell", make: { UILabel() }, bind: { label, cell in label.text = cell.bindings["username"]?.text })
///
/// let size = registry.size(of: cell)
/// if let view = registry.dequeue(cell) { registry.bind(cell, to: view) }
/// ```
///
/// The registry is not thread-safe. It is used on the actor that owns the views, in an app the main actor.
public final class CellRegistry<View> {
    private struct Registration {
        let version: Int
        let make: () -> View
        let bind: (View, FeedCell) -> Void
        let size: ((FeedCell, Double) -> CellSize)?
    }

    /// The identifier of the views for cells without a registration.
    public static var fallback: String { "fallback" }

    private let maxPooled: Int
    private var registrations: [String: Registration] = [:]
    private var pool: [String: [View]] = [:]

    /// Creates a registry without registrations.
    ///
    /// - Parameter maxPooled: The maximum number of views for reuse, by identifier.
    public init(maxPooled: Int = 32) {
        self.maxPooled = maxPooled
    }

    /// Registers a view for an identifier and replaces an earlier registration.
    ///
    /// ```swift
    /// registry.register("CardCell", version: 2, make: { UILabel() }, bind: { label, cell in
    ///     label.text = cell.bindings["text"]?.text
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - version: The newest version of the identifier's cells that the view supports.
    ///   - make: Returns a new view; called if no view is available for reuse.
    ///   - size: Returns the size of a cell within a width, if the app overrides the server's size.
    ///   - bind: Fills a view with a cell. A reused view still shows its last cell.
    public func register(
        _ identifier: String, version: Int = 1, make: @escaping () -> View, size: ((FeedCell, Double) -> CellSize)? = nil,
        bind: @escaping (View, FeedCell) -> Void
    ) {
        registrations[identifier] = Registration(version: version, make: make, bind: bind, size: size)
        pool[identifier] = nil
    }

    /// Registers a view for all cells without a registration. Without a fallback, these cells are not shown.
    ///
    /// ```swift
    /// registry.registerFallback(make: { UILabel() }, bind: { label, cell in label.text = cell.id })
    /// ```
    public func registerFallback(make: @escaping () -> View, bind: @escaping (View, FeedCell) -> Void) {
        register(Self.fallback, make: make, bind: bind)
    }

    /// The identifiers with a registration, including `fallback`.
    public var identifiers: [String] { registrations.keys.sorted() }

    /// The capabilities of the app for `FeedClient.capabilities` (RFC 9651); nil with a fallback, which can show every cell.
    ///
    /// ```swift
    /// var client = FeedClient(base: base)
    /// client.capabilities = registry.capabilities  // "UserTableViewCell, *;q=0"
    /// ```
    public var capabilities: String? {
        guard registrations[Self.fallback] == nil else { return nil }
        let named = registrations.sorted { $0.key < $1.key }.map { identifier, registration in
            Self.item(identifier) + (registration.version == 1 ? "" : ";v=\(registration.version)")
        }
        return (named + ["*;q=0"]).joined(separator: ", ")
    }

    /// Returns an identifier as a structured field value (RFC 9651, section 3.3): a token if possible, a string otherwise.
    private static func item(_ identifier: String) -> String {
        let isToken = { (byte: UInt8) in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || ":/!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        if let first = identifier.utf8.first, (first | 0x20) &- UInt8(ascii: "a") < 26, identifier.utf8.allSatisfy(isToken) {
            return identifier
        }
        return "\"" + String(identifier.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }) + "\""
    }

    /// Returns the identifier under which a cell is shown: its own, `fallback`, or nil if it is not shown.
    public func identifier(for cell: FeedCell) -> String? {
        if let own = cell.identifier, registrations[own] != nil { return own }
        return registrations[Self.fallback] == nil ? nil : Self.fallback
    }

    /// Returns a view for a cell, reused or new, or nil if no view is registered.
    ///
    /// ```swift
    /// guard let view = registry.dequeue(cell) else { return }
    /// registry.bind(cell, to: view)
    /// ```
    ///
    /// - Parameter dequeue: Returns a view of an identifier, if a collection view of the system manages the views.
    public func dequeue(_ cell: FeedCell, from dequeue: ((String) -> View)? = nil) -> View? {
        guard let identifier = identifier(for: cell) else { return nil }
        return dequeue?(identifier) ?? pool[identifier]?.popLast() ?? registrations[identifier]?.make()
    }

    /// Returns the size of a cell in points, not wider than `width`.
    ///
    /// ```swift
    /// let size = registry.size(of: cell, within: collectionView.bounds.width)
    /// ```
    public func size(of cell: FeedCell, within width: Double = .infinity) -> CellSize {
        if let identifier = identifier(for: cell), let size = registrations[identifier]?.size { return size(cell, width) }
        return CellSize(width: min(cell.size.width, width), height: cell.size.height)
    }

    /// Fills a view that was dequeued for the cell.
    public func bind(_ cell: FeedCell, to view: View) {
        if let identifier = identifier(for: cell) { registrations[identifier]?.bind(view, cell) }
    }

    /// Returns a view that no longer shows its cell to the pool for reuse.
    public func recycle(_ view: View, of cell: FeedCell) {
        guard let identifier = identifier(for: cell), pool[identifier, default: []].count < maxPooled else { return }
        pool[identifier, default: []].append(view)
    }
}
