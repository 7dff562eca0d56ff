internal import IntertwinePrimitives

package struct FeedPage: Sendable {
    package struct Entry: Sendable {
        package let cell: RenderedCell
        private let state: CellState
        package let adSlot: Int?
        package let position: Int64
        package let campaign: String?
        package let repetition: Int
        private let reason: String?
        private let tokens: RenderedCell.Tokens

        init(
            _ cell: RenderedCell, state: CellState = [], adSlot: Int? = nil, position: Int64, repetition: Int = 1, reason: String? = nil,
            in context: CellContext,
            campaign: String? = nil,
            impressionContext: @autoclosure () -> ImpressionContext? = nil
        ) {
            self.cell = cell
            self.state = state
            self.adSlot = adSlot
            self.position = position
            self.campaign = campaign
            self.repetition = repetition
            self.reason = reason
            tokens = cell.tokens(in: context, impressionContext: impressionContext)
        }

        /// The time at which the item expires, in milliseconds since 1970-01-01 UTC.
        package var expiry: Int64 { cell.withRow { ItemSchedule(body: $0.body)?.expireAt } ?? .max }

        package var id: String { repetition > 1 ? "\(cell.id)#\(repetition)" : cell.id }

        package var json: [UInt8] {
            var writer = JSONWriter(capacity: cell.count)
            write(to: &writer)
            return writer.bytes
        }

        func write(to writer: inout JSONWriter) {
            cell.write(to: &writer, tokens: tokens, state, repetition: repetition, reason: reason)
        }

        func writeDigest(to bytes: inout [UInt8]) {
            withUnsafeBytes(of: cell.digest.halves) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: tokens.impression.utf8)
            bytes.append(contentsOf: tokens.click.utf8)
            state.writeDigest(to: &bytes)
            if repetition > 1 { bytes.append(contentsOf: "#\(repetition)".utf8) }
            if let reason { bytes.append(contentsOf: "\u{0}\(reason)\u{0}".utf8) }
        }

        var size: Int { cell.count + tokens.impression.utf8.count + tokens.click.utf8.count + 24 }
    }

    package struct SkippedItem: Sendable, Hashable {
        package enum Reason: Sendable, Hashable {
            case noFactory
            case broken(String)
            case unknownToClient([String])

            /// The missing capability of the client; nil if no client would get the item.
            package var lack: String? {
                switch self {
                case .noFactory, .broken: nil
                case .unknownToClient(let identifiers): "the client supports none of \(identifiers.joined(separator: ", "))"
                }
            }
        }

        package var form: ItemType
        package var id: String
        package var position: Int64
        package var reason: Reason
    }

    package var entries: [Entry]
    package var limit: Int
    package var next: String?
    package var previous: String?
    package var sections: [String]?
    package var syncToken: String?
    /// True if the feed's ranker did not answer, so that the order is not the ranker's current one.
    package var isDegraded = false
    /// The time until which the page is valid, in milliseconds since 1970-01-01 UTC.
    package var validUntil: Int64
    package var isAwaiting: Bool { entries.indices.contains { entries[$0].cell.hasPendingImageMetadata } }
    package var omissions: [SkippedItem]
    var following: PageCursor?
    var decision: CampaignAds.Decision?
    package var language: FeedLanguage?
    package var dependencies: PageDependencies?
    package var age: Duration?
    /// The first time at which an item of a shared page expires, in milliseconds since 1970-01-01 UTC.
    package var expiry = Int64.max
}
