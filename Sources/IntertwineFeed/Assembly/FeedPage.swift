internal import IntertwinePrimitives

/// One page of a feed.
package struct FeedPage: Sendable {
    /// A cell of a page, with the reason for its position.
    package struct Entry: Sendable {
        /// The cell of the item, rendered in the context of the page.
        package let cell: RenderedCell
        /// The viewer's state of the cell.
        private let state: CellState
        /// The index within the page's advertisements; nil for content.
        package let adSlot: Int?
        /// The item's position in its stream.
        package let position: Int64
        /// The campaign that the cell is shown for; nil for content and house ads.
        package let campaign: String?
        /// The number of times that the cell is on the page up to this entry.
        ///
        /// Only advertisements repeat: if there are fewer than ad slots, or if one is pinned twice.
        package let repetition: Int
        /// The tokens that are inserted into the cell's JSON on this page.
        private let tokens: RenderedCell.Tokens

        /// - Parameters:
        ///   - context: The context of the page.
        ///   - showing: The location of the cell on the page.
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

        /// The id of the entry, unique on the page: the cell's id, with a number for repetitions: `ad:1#2`. Actions apply to the cell itself.
        package var id: String { repetition > 1 ? "\(cell.id)#\(repetition)" : cell.id }

        /// The cell as sent to clients: JSON, UTF-8.
        package var json: [UInt8] {
            var writer = JSONWriter(capacity: cell.count)
            write(to: &writer)
            return writer.bytes
        }

        func write(to writer: inout JSONWriter) {
            cell.write(to: &writer, tokens: tokens, state, repetition: repetition)
        }

        /// Appends bytes that identify the entry's JSON.
        func writeDigest(to bytes: inout [UInt8]) {
            withUnsafeBytes(of: cell.digest.halves) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: tokens.impression.utf8)
            bytes.append(contentsOf: tokens.click.utf8)
            bytes.append(state.rawValue)
            if repetition > 1 { bytes.append(contentsOf: "#\(repetition)".utf8) }
        }

        /// The approximate number of bytes of the cell and its tokens.
        var size: Int { cell.count + tokens.impression.utf8.count + tokens.click.utf8.count + 24 }
    }

    /// An item that was skipped while the page was read. Dismissed items are not included.
    package struct SkippedItem: Sendable, Hashable {
        /// The reason why a page does not show an item.
        package enum Reason: Sendable, Hashable {
            /// No factory makes cells for the item's type.
            case noFactory
            /// The factory could not decode the item; with its message.
            case broken(String)
            /// The client supports none of the item's cells; with their identifiers.
            case unknownToClient([String])

            /// The missing capability of the client; nil if no client would get the item.
            package var lack: String? {
                switch self {
                case .noFactory, .broken: nil
                case .unknownToClient(let identifiers): "the client supports none of \(identifiers.joined(separator: ", "))"
                }
            }
        }

        /// The type of the item: its kind and variant.
        package var form: ItemType
        /// The id of the item, without its kind.
        package var id: String
        /// The item's position in its stream.
        package var position: Int64
        /// The reason why the page does not show the item.
        package var reason: Reason
    }

    /// The content and advertisements, in display order.
    package var entries: [Entry]
    /// The maximum number of content items on the page, as requested. Ads are additional.
    package var limit: Int
    /// The href of the next page; nil on the last page.
    package var next: String?
    /// The href of the previous page; nil on the first page.
    package var previous: String?
    /// The names of the sections on the page, in order; nil if the feed has no sections.
    package var sections: [String]?
    /// The sync token, with which a client requests changes of the page; nil if the client does not follow changes or the page is too large.
    package var syncToken: String?
    /// The time until which the page is valid, in milliseconds since 1970-01-01 UTC. Its tokens then change to the next hour.
    package var validUntil: Int64
    /// A Boolean value indicating whether the page shows an image whose metadata is still pending.
    package var isAwaiting: Bool { entries.indices.contains { entries[$0].cell.hasPendingImageMetadata } }
    /// The items skipped while reading. Broken ones are also logged and counted in metrics.
    package var omissions: [SkippedItem]
    /// The cursor of the next page; nil on the last page.
    var following: PageCursor?
    /// The ad server's decision about the page's slots; nil if no campaign could be served.
    var decision: CampaignAds.Decision?
    /// The language of the page's texts; nil if no languages are declared.
    package var language: FeedLanguage?
    /// The data that the page was read from; nil if the page is not shared.
    package var dependencies: PageDependencies?
    /// The age of the data, as ``StoreSnapshot/age``.
    package var age: Duration?
}
