internal import IntertwinePrimitives

extension AdServer {
    private static let format: UInt8 = 3
    private static let (servedFlag, reservationFlag): (UInt8, UInt8) = (1, 2)

    static func bytes(of allocated: [ServedAd?]) -> [UInt8] {
        var writer = ByteWriter(capacity: 32 * allocated.count)
        writer.write(format)
        writer.write(UInt16(clamping: allocated.count))
        for allocated in allocated {
            guard let allocated else {
                writer.write(0 as UInt8)
                continue
            }
            writer.write(allocated.reservation == nil ? servedFlag : servedFlag | reservationFlag)
            writer.write(counted: allocated.campaign.utf8)
            writer.write(counted: allocated.creative.kind.utf8)
            writer.write(counted: allocated.creative.id.utf8)
            writer.write(allocated.served)
            if let reservation = allocated.reservation {
                writer.write(reservation.process)
                writer.write(reservation.slot)
                writer.write(reservation.address)
                writer.write(allocated.ends ?? 0)
            }
        }
        return writer.bytes
    }

    static func ads(in bytes: [UInt8], of campaignIndex: CampaignIndex) -> [ServedAd?]? {
        var reader = ByteReader(bytes)
        guard reader.readByte() == format, let count = reader.readUInt16() else { return nil }
        func text() -> String? { reader.readCounted().flatMap { String(validating: $0, as: UTF8.self) } }
        var ads: [ServedAd?] = []
        for _ in 0..<count {
            guard let flags = reader.readByte() else { return nil }
            if flags & servedFlag == 0 {
                ads.append(nil)
                continue
            }
            guard let id = text(), let kind = text(), let creative = text(), let served = reader.readInt64(),
                let index = campaignIndex.index(of: id)
            else { return nil }
            var allocated = ServedAd(
                campaign: id, creative: CreativeID(kind: kind, id: creative),
                remembered: campaignIndex.campaigns[index].longestCapWindow,
                served: served)
            if flags & reservationFlag != 0 {
                guard let process = reader.readUInt16(), let slot = reader.readUInt16(), let address = reader.readUInt16(),
                    let ends = reader.readInt64()
                else { return nil }
                (allocated.reservation, allocated.ends) = (ReservationID(process: process, slot: slot, address: address), ends)
            }
            ads.append(allocated)
        }
        return ads
    }
}
