extension ReservationID {
    package static func number(of process: String) -> UInt16 { UInt16(truncatingIfNeeded: AdDecision.seed(process)) }
}

/// Impressions that one process received for slots that another process reserved.
package struct RemoteImpressions: Sendable, Hashable {
    package var campaign: String
    package var reservation: ReservationID
    package var count: Int

    package init(campaign: String, reservation: ReservationID, count: Int) {
        (self.campaign, self.reservation, self.count) = (campaign, reservation, count)
    }
}

struct GoalReservations {
    struct Count {
        var all: Int64 = 0
        var nameless: Int64 = 0
    }

    private struct Key: Hashable {
        var campaign: Int32
        var address: UInt16
    }

    private typealias ExpiryBucket = (number: Int64, counts: [Key: Int64])

    private static let slotCount: Int64 = 60

    private let lifetime: Int64
    /// The time in milliseconds for which reservations are kept after their lifetime. An impression at the end of the lifetime is on disk
    /// within this time, even if another process with a slow clock received it.
    private let grace: Int64
    private var slots: [ExpiryBucket] = []
    private var counts: ContiguousArray<Count>
    private var addresses: [UInt16: [Int32: Int64]] = [:]

    init(campaigns: Int, lifetime: Int64) {
        (self.lifetime, grace) = (lifetime, min(lifetime / Self.slotCount, 5_000))
        counts = ContiguousArray(repeating: Count(), count: campaigns)
    }

    private var length: Int64 { max(1, lifetime / Self.slotCount) }

    private func end(of slot: ExpiryBucket) -> Int64 { (slot.number + 1) * length + lifetime + grace }

    subscript(campaign: Int) -> Count { counts[campaign] }

    func reserved(by address: UInt16) -> [Int32: Int64] { addresses[address] ?? [:] }

    mutating func migrate(from old: GoalReservations, number: (Int32) -> Int32?) {
        for slot in old.slots {
            slots.append((slot.number, [:]))
            for (key, count) in slot.counts {
                guard let campaign = number(key.campaign) else { continue }
                change(Key(campaign: campaign, address: key.address), in: slots.count - 1, by: count)
            }
        }
    }

    mutating func add(_ campaign: Int, address: UInt16, at now: Int64) -> UInt16 {
        let number = now / length
        if slots.last?.number != number { slots.append((number, [:])) }
        change(Key(campaign: Int32(campaign), address: address), in: slots.count - 1, by: 1)
        return UInt16(truncatingIfNeeded: number)
    }

    @discardableResult
    mutating func release(_ campaign: Int, _ reservation: ReservationID, count: Int64 = 1) -> Int64 {
        let key = Key(campaign: Int32(campaign), address: reservation.address)
        guard let slot = slots.lastIndex(where: { UInt16(truncatingIfNeeded: $0.number) == reservation.slot }) else { return 0 }
        let released = min(count, slots[slot].counts[key] ?? 0)
        if released > 0 { change(key, in: slot, by: -released) }
        return released
    }

    mutating func expire(_ now: Int64) -> Set<Int32> {
        var unseen: Set<Int32> = []
        while let slot = slots.first, end(of: slot) <= now || end(of: slot) > now + 2 * lifetime + length + grace {
            for (key, count) in slot.counts {
                change(key, in: 0, by: -count)
                unseen.insert(key.campaign)
            }
            slots.removeFirst()
        }
        return unseen
    }

    private mutating func change(_ key: Key, in slot: Int, by difference: Int64) {
        Self.add(difference, to: key, of: &slots[slot].counts)
        counts[Int(key.campaign)].all += difference
        guard key.address != 0 else { return }
        counts[Int(key.campaign)].nameless += difference
        Self.add(difference, to: key.campaign, of: &addresses[key.address, default: [:]])
        if addresses[key.address]?.isEmpty == true { addresses[key.address] = nil }
    }

    private static func add<Key: Hashable>(_ difference: Int64, to key: Key, of counts: inout [Key: Int64]) {
        let count = (counts[key] ?? 0) + difference
        counts[key] = count == 0 ? nil : count
    }
}
