import Foundation

/// Knows which of the app's views shows cells of which identifier: the way of UIKit's registrations, for any type of view.
///
///     registry.register("UserSnapshotCollectionViewCell", make: { UserView() }, bind: { view, cell in view.show(cell.bindings) })
///     …
///     let size = registry.size(of: cell)
///     let view = registry.dequeue(cell)
///     registry.bind(cell, to: view)
///
/// It belongs to whoever owns the views, in an app the main actor.
public final class CellRegistry<View> {
    private struct Registration {
        let version: Int
        let make: () -> View
        let bind: (View, FeedCell) -> Void
        let size: ((FeedCell, Double) -> CellSize)?
    }

    /// What a view of an identifier that nobody registered is kept under.
    public static var fallback: String { "fallback" }

    private let mostKept: Int
    private var registrations: [String: Registration] = [:]
    private var kept: [String: [View]] = [:]

    /// - Parameter mostKept: how many views of an identifier wait to be used again.
    public init(mostKept: Int = 32) {
        self.mostKept = mostKept
    }

    /// Registers a view for an identifier; what was registered for it before is forgotten.
    ///
    /// - Parameters:
    ///   - version: the newest of the identifier's cells that the view can show.
    ///   - make: a new view, where none waits to be used again.
    ///   - size: of a cell within a width, where the app knows better than the server.
    ///   - bind: fills a view with a cell. A view that is used again still shows its last one.
    public func register(
        _ identifier: String, version: Int = 1, make: @escaping () -> View, size: ((FeedCell, Double) -> CellSize)? = nil,
        bind: @escaping (View, FeedCell) -> Void
    ) {
        registrations[identifier] = Registration(version: version, make: make, bind: bind, size: size)
        kept[identifier] = nil
    }

    /// Registers what shows every cell that nothing else is registered for. Without it, those are not shown.
    public func registerFallback(make: @escaping () -> View, bind: @escaping (View, FeedCell) -> Void) {
        register(Self.fallback, make: make, bind: bind)
    }

    /// What views are registered for, `fallback` included.
    public var identifiers: [String] { registrations.keys.sorted() }

    /// What the app tells the server that it can show, for `FeedClient.capabilities` (RFC 9651). With a fallback it can show everything.
    public var capabilities: String? {
        guard registrations[Self.fallback] == nil else { return nil }
        let named = registrations.sorted { $0.key < $1.key }.map { identifier, registration in
            Self.item(identifier) + (registration.version == 1 ? "" : ";v=\(registration.version)")
        }
        return (named + ["*;q=0"]).joined(separator: ", ")
    }

    /// An identifier as a structured field has it (RFC 9651, 3.3): a token where it can be one, and a text elsewhere.
    private static func item(_ identifier: String) -> String {
        let isToken = { (byte: UInt8) in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || ":/!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        if let first = identifier.utf8.first, (first | 0x20) &- UInt8(ascii: "a") < 26, identifier.utf8.allSatisfy(isToken) {
            return identifier
        }
        return "\"" + String(identifier.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }) + "\""
    }

    /// The identifier that a cell is shown under: its own, `fallback`, or nil where it is not shown.
    public func identifier(for cell: FeedCell) -> String? {
        if let own = cell.identifier, registrations[own] != nil { return own }
        return registrations[Self.fallback] == nil ? nil : Self.fallback
    }

    /// A view for a cell: one that waits, or a new one; nil where nothing shows it.
    ///
    /// - Parameter dequeue: where views come from a collection of the system's, what asks it for one of an identifier.
    public func dequeue(_ cell: FeedCell, from dequeue: ((String) -> View)? = nil) -> View? {
        guard let identifier = identifier(for: cell) else { return nil }
        return dequeue?(identifier) ?? kept[identifier]?.popLast() ?? registrations[identifier]?.make()
    }

    /// A cell's size within a width, in points: never wider.
    public func size(of cell: FeedCell, within width: Double = .infinity) -> CellSize {
        if let identifier = identifier(for: cell), let size = registrations[identifier]?.size { return size(cell, width) }
        return CellSize(width: min(cell.size.width, width), height: cell.size.height)
    }

    /// Fills a view that was dequeued for the cell.
    public func bind(_ cell: FeedCell, to view: View) {
        if let identifier = identifier(for: cell) { registrations[identifier]?.bind(view, cell) }
    }

    /// Takes a view back that shows its cell no more.
    public func recycle(_ view: View, of cell: FeedCell) {
        guard let identifier = identifier(for: cell), kept[identifier, default: []].count < mostKept else { return }
        kept[identifier, default: []].append(view)
    }
}
