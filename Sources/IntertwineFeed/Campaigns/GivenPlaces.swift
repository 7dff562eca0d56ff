internal import IntertwinePrimitives

/// What the places of a page were given to, as a ledger keeps it for processes that are asked for the same page.
struct GivenPlaces {
    private static let format: UInt8 = 2
    private struct Flags {
        static let given: UInt8 = 1
        static let place: UInt8 = 2
    }

    static func bytes(of given: [CampaignDelivery.Given?]) -> [UInt8] {
        var writer = ByteWriter(capacity: 32 * given.count)
        writer.write(format)
        writer.write(UInt16(clamping: given.count))
        for given in given {
            guard let given else {
                writer.write(0 as UInt8)
                continue
            }
            writer.write(given.place == nil ? Flags.given : Flags.given | Flags.place)
            writer.write(counted: given.campaign.utf8)
            writer.write(counted: given.creative.kind.utf8)
            writer.write(counted: given.creative.id.utf8)
            if let place = given.place {
                writer.write(place.process)
                writer.write(place.slot)
                writer.write(place.address)
                writer.write(given.ends ?? 0)
            }
        }
        return writer.bytes
    }

    /// Nil where they are of another version, or a campaign is none of the book's.
    static func places(in bytes: [UInt8], of book: CampaignBook) -> [CampaignDelivery.Given?]? {
        var reader = ByteReader(bytes)
        guard reader.readByte() == format, let count = reader.readUInt16() else { return nil }
        func text() -> String? { reader.readCounted().flatMap { String(validating: $0, as: UTF8.self) } }
        var places: [CampaignDelivery.Given?] = []
        for _ in 0..<count {
            guard let flags = reader.readByte() else { return nil }
            if flags & Flags.given == 0 {
                places.append(nil)
                continue
            }
            guard let id = text(), let kind = text(), let creative = text(), let index = book.index(of: id) else { return nil }
            var given = CampaignDelivery.Given(
                campaign: id, creative: CampaignCreative(kind: kind, id: creative), remembered: book.campaigns[index].memory)
            if flags & Flags.place != 0 {
                guard let process = reader.readUInt16(), let slot = reader.readUInt16(), let address = reader.readUInt16(),
                    let ends = reader.readInt64()
                else { return nil }
                (given.place, given.ends) = (GoalPlace(process: process, slot: slot, address: address), ends)
            }
            places.append(given)
        }
        return places
    }
}
