/// Turns one kind of item into cell view models. The assembler knows factories, never concrete cells.
///
/// Adding a kind of cell is one factory, and one line that registers it with ``CellFactories``.
///
/// An item may be shown in several cells: the first, and companions that stand behind it. They are one item for `limit`, and stand together
/// on one page. Who dismisses the first dismisses all of them, who dismisses a companion that one alone.
///
/// What a factory makes, and what the commands in it tell clients, follows from the item and the context alone, and within an hour stays the
/// same: it is kept, and shown to whoever asks under the same circumstances.
public protocol CellViewModelFactory: Sendable {
    /// The reuse identifier of the first cells it makes.
    var identifier: String { get }

    /// All cells that it may make, companions included: those that a client may know or not.
    var cells: [CellIdentifier] { get }

    /// The first cells that it may make. An item whose client knows none of them is left out.
    var chain: [CellIdentifier] { get }

    /// The names of the companions that it may make, such as `photos`, in order.
    var companions: [String] { get }

    /// The first cell of an item.
    ///
    /// - Parameter cell: the cell's id.
    /// - Throws: where the item's body does not hold what the cell needs. The item is then left out of the page, logged and counted.
    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel

    /// A companion of an item's first cell; nil where this item has none of that name.
    ///
    /// - Parameter cell: the companion's id, such as `user:tt#photos`.
    /// - Throws: as of the first cell; the whole item is then left out.
    func makeCompanion(_ name: String, for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel?
}

extension CellViewModelFactory {
    public var cells: [CellIdentifier] { [CellIdentifier(identifier)] }

    public var chain: [CellIdentifier] { companions.isEmpty ? cells : [CellIdentifier(identifier)] }

    public var companions: [String] { [] }

    public func makeCompanion(_ name: String, for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel? { nil }
}

/// The circumstances under which a cell view model is made: the same for every cell of a page, but for the slot.
public struct CellContext: Sendable {
    private struct References: Sendable {
        var links: Links
        var tokens: CellTokens
        var showing: ImpressionContext?
        var disclosure: Campaign.Disclosure?
        var language: FeedLanguage?
        var lacking: UnsupportedCells?
    }

    /// All that is counted who holds it, as one reference, and that of a page alone: links, tokens and texts are shared by all threads,
    /// which would fight over their counts for each copy, a handful for each cell.
    private final class Shared: Sendable {
        let references: References

        init(_ references: References) { self.references = references }
    }

    private var shared: Shared
    /// Milliseconds since 1970-01-01 UTC.
    public var now: Int64
    /// Whether the request has a viewer, so that viewer-bound commands can be offered.
    public var hasViewer: Bool
    /// Whether the cell is shown to somebody. What fills it is of no use where it is only acted on.
    public var rendersContent = true
    /// The index within the page's advertisements; 0 for content.
    public var slot: Int
    /// Tells the page from others, in what is minted for its cells; 0 where there is none.
    public var page: UInt32
    public var layout: CellLayout
    /// The client's width in points; nil where it is not known, and sizes are the contract's.
    public var width: Int?
    /// Pixels per point that the client shows pictures with.
    public var scale: Int

    public init(
        links: Links, tokens: CellTokens, now: Int64, hasViewer: Bool = false, slot: Int = 0, page: UInt32 = 0,
        layout: CellLayout = .collection, width: Int? = nil, scale: Int = 1, showing: ImpressionContext? = nil,
        language: FeedLanguage? = nil
    ) {
        shared = Shared(References(links: links, tokens: tokens, showing: showing, language: language))
        self.now = now
        self.hasViewer = hasViewer
        self.slot = slot
        self.page = page
        self.layout = layout
        self.width = width
        self.scale = scale
    }

    private mutating func change(_ body: (inout References) -> Void) {
        var references = shared.references
        body(&references)
        shared = Shared(references)
    }

    public var links: Links {
        get { shared.references.links }
        set { change { $0.links = newValue } }
    }
    public var tokens: CellTokens {
        get { shared.references.tokens }
        set { change { $0.tokens = newValue } }
    }
    /// Where on the page the cell stands; nil where there is no page, and while cells are made that are good for any place.
    public var impression: ImpressionContext? {
        get { shared.references.showing }
        set { change { $0.showing = newValue } }
    }
    /// What is said of an advertisement that somebody pays for; nil for all else. It is bound into the cell as `disclosure`.
    package var disclosure: Campaign.Disclosure? {
        get { shared.references.disclosure }
        set { change { $0.disclosure = newValue } }
    }
    /// The language that texts are wanted in; nil where none is declared.
    public var language: FeedLanguage? {
        get { shared.references.language }
        set { change { $0.language = newValue } }
    }
    /// The cells that the client does not know; nil where it knows all, or says nothing of it.
    package var lacking: UnsupportedCells? {
        get { shared.references.lacking }
        set { change { $0.lacking = newValue } }
    }
}

extension CellContext {
    /// Whether the client can show a cell.
    public func knows(_ cell: CellIdentifier) -> Bool { lacking.map { !$0.contains(cell) } ?? true }

    /// Whether the client knows these types of bindings.
    func knows(bindings types: Set<String>) -> Bool { lacking.map { types.allSatisfy($0.types.knows(binding:)) } ?? true }

    func clickToken(of cell: String) -> String {
        tokens.click(cell: cell, slot: slot, page: page, showing: impression, now: now)
    }

    func impressionToken(of cell: String) -> String {
        tokens.impression(cell: cell, slot: slot, page: page, showing: impression, now: now)
    }
}

/// Which form of cells a client shows: those of a collection view, or the rows of a table view.
public enum CellLayout: String, Sendable, Hashable, CaseIterable {
    case collection, table
}
