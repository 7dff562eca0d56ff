/// A place that was given of a campaign's goal, as the token of its page names it: by this its reservation is found when it is seen.
package struct ReservationID: Sendable, Hashable {
    /// Stands for the process that gave it.
    package var process: UInt16
    /// Stands for the stretch of time in which it was given.
    package var slot: UInt16
    /// Stands for the address of whoever got it and has no name; 0 for who has one.
    package var address: UInt16

    package init(process: UInt16, slot: UInt16, address: UInt16) {
        (self.process, self.slot, self.address) = (process, slot, address)
    }

    /// What stands for a process.
    package static func number(of process: String) -> UInt16 { UInt16(truncatingIfNeeded: AdDecision.seed(process)) }
}

/// Places that were seen through another process than gave them.
package struct RemoteImpressions: Sendable, Hashable {
    package var campaign: String
    package var reservation: ReservationID
    package var count: Int

    package init(campaign: String, reservation: ReservationID, count: Int) {
        (self.campaign, self.reservation, self.count) = (campaign, reservation, count)
    }
}

/// Places that a process has given of goals and that nobody has seen yet. Each counts until it is seen, or until its time is over.
struct GoalReservations {
    struct Count {
        var all: Int64 = 0
        /// Of them, those of pages for whoever has no name.
        var nameless: Int64 = 0
    }

    private struct Key: Hashable {
        var campaign: Int32
        var address: UInt16
    }

    /// Places that were given in one stretch of time.
    private struct ExpiryBucket {
        var number: Int64
        var counts: [Key: Int64] = [:]
    }

    /// Stretches that a reservation's time has.
    private static let slotCount: Int64 = 60

    private let lifetime: Int64
    /// For how long places are held beyond their time: an impression that came in time is on disk by then, also through a process whose clock
    /// is behind. Milliseconds.
    private let grace: Int64
    private var slots: [ExpiryBucket] = []
    private var counts: ContiguousArray<Count>
    private var addresses: [UInt16: [Int32: Int64]] = [:]

    /// - Parameters:
    ///   - campaigns: how many there are.
    ///   - lifetime: of a reservation, in milliseconds, from 1.
    init(campaigns: Int, lifetime: Int64) {
        (self.lifetime, grace) = (lifetime, min(lifetime / Self.slotCount, 5_000))
        counts = ContiguousArray(repeating: Count(), count: campaigns)
    }

    private var length: Int64 { max(1, lifetime / Self.slotCount) }

    private func end(of slot: ExpiryBucket) -> Int64 { (slot.number + 1) * length + lifetime + grace }

    subscript(campaign: Int) -> Count { counts[campaign] }

    /// What somebody without a name has, by the address.
    func reserved(by address: UInt16) -> [Int32: Int64] { addresses[address] ?? [:] }

    /// Those of another one, whose campaigns have other numbers or are gone here.
    mutating func migrate(from old: GoalReservations, number: (Int32) -> Int32?) {
        for slot in old.slots {
            slots.append(ExpiryBucket(number: slot.number))
            for (key, count) in slot.counts {
                guard let campaign = number(key.campaign) else { continue }
                change(Key(campaign: campaign, address: key.address), in: slots.count - 1, by: count)
            }
        }
    }

    /// - Returns: what stands for the stretch of time.
    mutating func add(_ campaign: Int, address: UInt16, at now: Int64) -> UInt16 {
        let number = now / length
        if slots.last?.number != number { slots.append(ExpiryBucket(number: number)) }
        change(Key(campaign: Int32(campaign), address: address), in: slots.count - 1, by: 1)
        return UInt16(truncatingIfNeeded: number)
    }

    /// - Returns: how many of them there were: what is over is nobody's any more.
    @discardableResult
    mutating func release(_ campaign: Int, _ place: ReservationID, count: Int64 = 1) -> Int64 {
        let key = Key(campaign: Int32(campaign), address: place.address)
        guard let slot = slots.lastIndex(where: { UInt16(truncatingIfNeeded: $0.number) == place.slot }) else { return 0 }
        let released = min(count, slots[slot].counts[key] ?? 0)
        if released > 0 { change(key, in: slot, by: -released) }
        return released
    }

    /// - Returns: the campaigns of those that went unseen.
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
