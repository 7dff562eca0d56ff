internal import IntertwinePrimitives

/// The context in which a cell was shown: known when its page is assembled, and read from its tokens when it is seen or clicked.
///
/// ```swift
/// let context = ImpressionContext(feed: "main", section: "news", position: 3, layout: .table)
/// let token = tokens.impression(cell: "user:1", slot: 0, page: 7, showing: context, now: now)
/// ```
package struct ImpressionContext: Sendable, Hashable {
    /// The campaign that was served; nil for content and house ads.
    package var campaign: String?
    /// The feed's name, such as `main`.
    package var feed: String
    /// The section's name; nil if the feed has no sections.
    package var section: String?
    /// The index among the page's cells.
    package var position: Int
    /// The layout of the client that showed the page.
    package var layout: CellLayout
    /// The time in seconds for which the campaign's frequency caps need the impression to be stored; 0 without caps.
    package var frequencyCapTTL: Int
    /// The reservation of the campaign's goal that the impression uses; nil without a goal that counts impressions.
    package var reservation: ReservationID?
    /// The time until which an impression of that reservation counts, in milliseconds since 1970-01-01 UTC; nil without a limit.
    package var ends: Int64?

    /// Creates the context of a cell on a page.
    ///
    /// - Parameter remembered: The time in seconds for which frequency caps need the impression, as ``frequencyCapTTL``.
    package init(
        campaign: String? = nil, feed: String, section: String? = nil, position: Int = 0, layout: CellLayout = .collection,
        remembered: Int = 0
    ) {
        self.campaign = campaign
        self.feed = feed
        self.section = section
        self.position = position
        self.layout = layout
        self.frequencyCapTTL = remembered
    }

    /// Creates the context of an event that names no page, for the campaign of its ad.
    package init(withoutPage campaign: String) {
        self.init(campaign: campaign, feed: "", position: -1)
    }

    /// True unless the event names no page. Feed, section, position and layout are then unknown.
    var hasPage: Bool { !feed.isEmpty }
}

extension LedgerEvent {
    /// The context if the event names the page that showed the cell.
    package var page: ImpressionContext? { showing.flatMap { $0.hasPage ? $0 : nil } }
}

extension ImpressionContext {
    /// The default feed, which is omitted from tokens to keep them short.
    private static let usualFeed = "main"

    /// The bits that state which members follow. The end time is written after the reservation.
    private static let (campaignFlag, feedFlag, sectionFlag): (UInt8, UInt8, UInt8) = (1, 2, 4)
    private static let (tableFlag, reservationFlag, endsFlag): (UInt8, UInt8, UInt8) = (8, 16, 32)

    func write(to writer: inout ByteWriter) {
        var flags: UInt8 = layout == .table ? Self.tableFlag : 0
        if campaign != nil { flags |= Self.campaignFlag }
        if feed != Self.usualFeed { flags |= Self.feedFlag }
        if section != nil { flags |= Self.sectionFlag }
        if reservation != nil { flags |= ends == nil ? Self.reservationFlag : Self.reservationFlag | Self.endsFlag }
        writer.write(flags)
        writer.write(UInt16(clamping: position))
        if let campaign {
            writer.write(UInt32(clamping: frequencyCapTTL))
            writer.write(counted: campaign.utf8)
        }
        if feed != Self.usualFeed { writer.write(counted: feed.utf8) }
        if let section { writer.write(counted: section.utf8) }
        if let reservation {
            writer.write(reservation.process)
            writer.write(reservation.slot)
            writer.write(reservation.address)
            if let ends { writer.write(ends) }
        }
    }

    init?(_ reader: inout ByteReader) {
        guard let flags = reader.readByte(), flags < 64, let position = reader.readUInt16() else { return nil }
        func text() -> String? { reader.readCounted().flatMap { String(validating: $0, as: UTF8.self) } }
        self.init(feed: Self.usualFeed, position: Int(position), layout: flags & Self.tableFlag == 0 ? .collection : .table)
        if flags & Self.campaignFlag != 0 {
            guard let remembered = reader.readUInt32(), let campaign = text() else { return nil }
            (self.campaign, self.frequencyCapTTL) = (campaign, Int(remembered))
        }
        if flags & Self.feedFlag != 0 {
            guard let feed = text() else { return nil }
            self.feed = feed
        }
        if flags & Self.sectionFlag != 0 {
            guard let section = text() else { return nil }
            self.section = section
        }
        if flags & Self.reservationFlag != 0 {
            guard let process = reader.readUInt16(), let slot = reader.readUInt16(), let address = reader.readUInt16() else { return nil }
            reservation = ReservationID(process: process, slot: slot, address: address)
            if flags & Self.endsFlag != 0 {
                guard let ends = reader.readInt64() else { return nil }
                self.ends = ends
            }
        }
    }
}
