/// One page of a feed.
package struct FeedPage: Sendable {
    /// A cell, and why it stands where it does.
    public struct Entry: Sendable {
        public let cell: RenderedCell
        /// How it stands with the viewer.
        private let state: CellState
        /// The index within the page's advertisements; nil for content.
        public let adSlot: Int?
        /// Where the item stands in the order of its lane.
        public let position: Int64
        /// The campaign that it is shown for.
        public let campaign: String?
        /// How often the cell has stood on the page with this one: an advertisement may, where there are fewer than places, or where it was
        /// listed twice.
        public let repetition: Int
        /// What fills the cell's gaps on this page.
        private let tokens: RenderedCell.Tokens

        /// - Parameters:
        ///   - context: that of the page.
        ///   - showing: where on it the cell stands.
        init(
            _ cell: RenderedCell, state: CellState = [], adSlot: Int? = nil, position: Int64, repetition: Int = 1, in context: CellContext,
            campaign: String? = nil,
            showing: @autoclosure () -> ImpressionContext? = nil
        ) {
            self.cell = cell
            self.state = state
            self.adSlot = adSlot
            self.position = position
            self.campaign = campaign
            self.repetition = repetition
            tokens = cell.tokens(in: context, showing: showing)
        }

        /// What tells the cell from all others of the page: its own id or, where it stands there again, that with a number: `ad:1#2`. What people
        /// do with it is done with the one cell all the same.
        public var id: String { repetition > 1 ? "\(cell.id)#\(repetition)" : cell.id }

        /// The cell as clients get it: JSON, UTF-8.
        public var json: [UInt8] {
            var writer = JSONWriter(capacity: cell.count)
            write(to: &writer)
            return writer.bytes
        }

        func write(to writer: inout JSONWriter) {
            cell.write(to: &writer, tokens: tokens, state, repetition: repetition)
        }

        /// What tells its JSON from any other.
        func writeDigest(to bytes: inout [UInt8]) {
            withUnsafeBytes(of: cell.digest.halves) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: tokens.impression.utf8)
            bytes.append(contentsOf: tokens.click.utf8)
            bytes.append(state.rawValue)
            if repetition > 1 { bytes.append(contentsOf: "#\(repetition)".utf8) }
        }

        /// Bytes of both, about.
        var size: Int { cell.count + tokens.impression.utf8.count + tokens.click.utf8.count + 24 }
    }

    /// An item that would have been on the page, and is not. What the viewer dismissed is none of those.
    public struct SkippedItem: Sendable, Hashable {
        public enum Reason: Sendable, Hashable {
            /// Nothing makes cells for its form.
            case noFactory
            /// Its factory could not read it; with what it said.
            case broken(String)
            /// The client knows none of its cells; with their identifiers.
            case unknownToClient([String])
            /// The client does not know the types of bindings and actions of its last cell; with its identifier.
            case unknownTypes([String], in: String)

            /// What the client would have to know; nil where another client would not be shown it either.
            package var lack: String? {
                switch self {
                case .noFactory, .broken: nil
                case .unknownToClient(let identifiers): "the client knows none of \(identifiers.joined(separator: ", "))"
                case .unknownTypes(let types, let identifier):
                    "the client does not know \(types.joined(separator: ", ")), which \(identifier) has"
                }
            }
        }

        public var form: ItemType
        public var id: String
        public var position: Int64
        public var reason: Reason
    }

    /// Content and advertisements, in the order in which they are shown.
    public var entries: [Entry]
    public var limit: Int
    /// The href of the next page; nil on the last.
    public var next: String?
    /// The href of the page before; nil on the first.
    public var previous: String?
    /// The names of the sections that the page meets, in order; nil where the feed has no sections.
    public var sections: [String]?
    /// What the client asks for changes of the page with; nil where it did not want to know, or the page holds too much.
    public var since: String?
    /// Until when the page can be served as it is, in milliseconds since 1970-01-01 UTC: its tokens then get the next hour's.
    public var validUntil: Int64
    /// Whether it shows a picture of which more may be known soon.
    public var isAwaiting: Bool { entries.indices.contains { entries[$0].cell.hasPendingImageMetadata } }
    /// What was left out while reading. Broken ones are for the log and the metrics too.
    public var omissions: [SkippedItem]
    /// Where the next page begins; nil on the last.
    var following: PageCursor?
    /// How its places were given to campaigns; nil where none can have one.
    var decision: PageCampaigns.Decision?
    /// That of its texts; nil where none is declared.
    public var language: FeedLanguage?
    /// What it was read from; nil where it is not the same for everyone.
    public var dependencies: PageDependencies?
}
