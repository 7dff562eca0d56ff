internal import IntertwinePrimitives

package struct ImpressionContext: Sendable, Hashable {
    package var campaign: String?
    package var feed: String
    package var section: String?
    package var position: Int
    package var layout: CellLayout
    /// The time in seconds for which the campaign's frequency caps need the impression to be stored; 0 without caps.
    package var frequencyCapTTL: Int
    /// The time at which the slot was given to the campaign, in milliseconds since 1970-01-01 UTC, rounded down to seconds; nil if unknown.
    package var served: Int64?
    /// The values of filters in force.
    package var filters: [EventInput.Choice] = []

    package init(
        campaign: String? = nil, feed: String, section: String? = nil, position: Int = 0, layout: CellLayout = .collection,
        frequencyCapTTL: Int = 0
    ) {
        (self.campaign, self.feed, self.section) = (campaign, feed, section)
        (self.position, self.layout, self.frequencyCapTTL) = (position, layout, frequencyCapTTL)
    }

    package init(withoutPage campaign: String) {
        self.init(campaign: campaign, feed: "", position: -1)
    }

    /// True unless the event names no page.
    var hasPage: Bool { !feed.isEmpty }
}

extension LedgerEvent {
    package var page: ImpressionContext? { impressionContext.flatMap { $0.hasPage ? $0 : nil } }
}

extension ImpressionContext {
    private static let usualFeed = "main"

    private static let (campaignFlag, feedFlag, sectionFlag): (UInt8, UInt8, UInt8) = (1, 2, 4)
    private static let (tableFlag, reservationFlag, endsFlag, servedFlag): (UInt8, UInt8, UInt8, UInt8) = (8, 16, 32, 64)
    private static let filtersFlag: UInt8 = 128
    /// The bytes of the values that are reported. Why: each token of a page has them.
    private static let filtersLimit = 256

    /// Returns the values of filters that tokens carry, by their names.
    static func filters(_ filters: [String: [String]]) -> [EventInput.Choice] {
        var rest = filtersLimit
        let all = filters.sorted { $0.key < $1.key }.flatMap { name, values in values.map { EventInput.Choice(ofFilter: name, $0) } }
        return Array(
            all.prefix {
                rest -= $0.field.utf8.count + $0.value.utf8.count
                return rest >= 0
            })
    }

    func write(to writer: inout ByteWriter) {
        var flags: UInt8 = layout == .table ? Self.tableFlag : 0
        if campaign != nil { flags |= Self.campaignFlag }
        if feed != Self.usualFeed { flags |= Self.feedFlag }
        if section != nil { flags |= Self.sectionFlag }
        if served != nil { flags |= Self.servedFlag }
        if !filters.isEmpty { flags |= Self.filtersFlag }
        writer.write(flags)
        writer.write(UInt16(clamping: position))
        if let campaign {
            writer.write(UInt32(clamping: frequencyCapTTL))
            writer.write(counted: campaign.utf8)
        }
        if feed != Self.usualFeed { writer.write(counted: feed.utf8) }
        if let section { writer.write(counted: section.utf8) }
        if let served { writer.write(UInt32(clamping: served / 1_000)) }
        guard !filters.isEmpty else { return }
        writer.write(UInt8(filters.count))
        for text in filters.flatMap({ [$0.field, $0.value] }) { writer.write(counted: text.utf8) }
    }

    init?(_ reader: inout ByteReader) {
        guard let flags = reader.readByte(), let position = reader.readUInt16() else { return nil }
        func text() -> String? { reader.readCounted().flatMap { String(validating: $0, as: UTF8.self) } }
        self.init(feed: Self.usualFeed, position: Int(position), layout: flags & Self.tableFlag == 0 ? .collection : .table)
        if flags & Self.campaignFlag != 0 {
            guard let frequencyCapTTL = reader.readUInt32(), let campaign = text() else { return nil }
            (self.campaign, self.frequencyCapTTL) = (campaign, Int(frequencyCapTTL))
        }
        if flags & Self.feedFlag != 0 {
            guard let feed = text() else { return nil }
            self.feed = feed
        }
        if flags & Self.sectionFlag != 0 {
            guard let section = text() else { return nil }
            self.section = section
        }
        if flags & Self.reservationFlag != 0 { for _ in 0..<3 { guard reader.readUInt16() != nil else { return nil } } }
        if flags & Self.endsFlag != 0 { guard reader.readInt64() != nil else { return nil } }
        if flags & Self.servedFlag != 0 {
            guard let served = reader.readUInt32() else { return nil }
            self.served = Int64(served) * 1_000
        }
        if flags & Self.filtersFlag != 0 {
            guard let count = reader.readByte() else { return nil }
            for _ in 0..<count {
                guard let field = text(), let value = text() else { return nil }
                filters.append(EventInput.Choice(field, value))
            }
        }
    }
}
