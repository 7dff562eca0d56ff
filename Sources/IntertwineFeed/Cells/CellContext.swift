internal import IntertwinePrimitives

/// The conditions under which a cell view model is made. Apart from the slot, they are equal for all cells of a page.
public struct CellContext: Sendable {
    private struct References: Sendable {
        var links: Links
        var tokens: CellTokens
        var impressionContext: ImpressionContext?
        var disclosure: Disclosure?
        var language: FeedLanguage?
        var unsupportedCells: UnsupportedCells?
    }

    /// The reference-counted members of a context, in one object per page. Why: All threads share links, tokens and texts. Copies of a
    /// context, several per cell, would otherwise cause contention on their reference counts.
    private final class Shared: Sendable {
        let references: References

        init(_ references: References) { self.references = references }
    }

    private var shared: Shared
    /// The current time in milliseconds since 1970-01-01 UTC.
    public var now: Int64
    /// A Boolean value indicating whether the request has a viewer, so that commands that need one can be offered.
    public var hasViewer: Bool
    /// A Boolean value indicating whether the cell is shown. If only its commands are executed, bindings are not needed.
    public var rendersContent = true
    /// The index among the ads of the page; 0 for content.
    public var slot: Int
    /// The number of the page in the tokens of its cells; 0 if there is no page.
    public var page: UInt32
    /// The layout in which the client shows the cell.
    public var layout: CellLayout
    /// The client's width in points; nil if unknown, in which case default sizes are used.
    public var width: Int?
    /// The number of pixels per point at which the client shows images.
    public var scale: Int

    package init(
        links: Links, tokens: CellTokens, now: Int64, hasViewer: Bool = false, slot: Int = 0, page: UInt32 = 0,
        layout: CellLayout = .collection, width: Int? = nil, scale: Int = 1, impressionContext: ImpressionContext? = nil,
        language: FeedLanguage? = nil
    ) {
        shared = Shared(References(links: links, tokens: tokens, impressionContext: impressionContext, language: language))
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

    /// The factory of the hrefs in the cell.
    public var links: Links {
        get { shared.references.links }
        set { change { $0.links = newValue } }
    }
    package var tokens: CellTokens {
        get { shared.references.tokens }
        set { change { $0.tokens = newValue } }
    }
    package var impression: ImpressionContext? {
        get { shared.references.impressionContext }
        set { change { $0.impressionContext = newValue } }
    }
    package var disclosure: Disclosure? {
        get { shared.references.disclosure }
        set { change { $0.disclosure = newValue } }
    }
    /// The requested language of texts; nil if no languages are declared.
    public var language: FeedLanguage? {
        get { shared.references.language }
        set { change { $0.language = newValue } }
    }
    package var unsupportedCells: UnsupportedCells? {
        get { shared.references.unsupportedCells }
        set { change { $0.unsupportedCells = newValue } }
    }
}

extension CellContext {
    /// True if the client supports a cell.
    ///
    /// ```swift
    /// let current = CellIdentifier("NoteCollectionViewCell", version: 2)
    /// let cell = context.knows(current) ? current : CellIdentifier("NoteCollectionViewCell")
    /// ```
    public func knows(_ cell: CellIdentifier) -> Bool { unsupportedCells.map { !$0.contains(cell) } ?? true }

    package func clickToken(of cell: String) -> String {
        tokens.click(cell: cell, slot: slot, page: page, impressionContext: impression, now: now)
    }

    func impressionToken(of cell: String) -> String {
        tokens.impression(cell: cell, slot: slot, page: page, impressionContext: impression, now: now)
    }
}

extension CellContext {
    package struct Disclosure: Sendable, Hashable {
        /// The label in the language of the request; nil for the usual one.
        package var label: String?
        package var advertiser: String

        package init(label: String?, advertiser: String) {
            (self.label, self.advertiser) = (label, advertiser)
        }

        var binding: CellBinding {
            CellBinding(
                CellIdentifier.disclosure.name,
                .custom(type: "disclosure", members: [.init("label", .text(label ?? "")), .init("advertiser", .text(advertiser))]))
        }
    }
}
