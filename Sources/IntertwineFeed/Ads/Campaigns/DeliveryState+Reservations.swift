/// The reservations of slots, and the events that use them.
extension DeliveryState {
    /// The maximum number of campaign and slot pairs that wait to be reported to other processes.
    private static let elsewhereCapacity = 65_536

    /// Frees the slots of expired reservations without an impression.
    mutating func expire(_ now: Int64) {
        for campaign in reservations.expire(now) {
            leases[Int(campaign)] = .min
            needsBudget = true
        }
    }

    /// Returns the reservations of anonymous viewers with an address, by campaign.
    func reserved(by address: UInt16) -> [Int32: Int64] { reservations.reserved(by: address) }

    /// Reserves a slot of a campaign; nil if no goal counts slots.
    ///
    /// - Parameter address: The hashed address of an anonymous viewer; 0 for an identified viewer.
    mutating func reserve(_ index: Int, for address: UInt16, at now: Int64) -> ReservationID? {
        guard let goal = rows[index].goal else { return nil }
        if goal.unit == .clicks, !hasOthers { return nil }
        consume(1, of: index)
        defer { recordUse(of: index) }
        guard goal.unit == .impressions else { return nil }
        let slot = reservations.add(index, address: address, at: now)
        current.reserved[index] = reservations[index]
        return ReservationID(process: process, slot: slot, address: address)
    }

    /// Renews the reservation of a slot without an impression; nil if this process does not hold it.
    mutating func renew(_ index: Int, _ reservation: ReservationID, at now: Int64) -> ReservationID? {
        guard reservation.process == process, reservations.release(index, reservation) > 0 else { return nil }
        return ReservationID(
            process: process, slot: reservations.add(index, address: reservation.address, at: now), address: reservation.address)
    }

    /// True if the counts reach the campaign's total goal, or its daily goal for today.
    func isReached(_ index: Int) -> Bool { rows[index].account.obstacle(rows[index].goal) != nil }

    private mutating func recordUse(of index: Int) {
        if rows[index].account.isRunningLow { needsBudget = true }
        if current.room[index] <= 0 { current.obstacles[index] = exhaustion(index).rawValue }
    }

    /// Frees a slot that was just allocated.
    mutating func undoReservation(_ index: Int, _ reservation: ReservationID?) {
        guard let reservation, release(index, reservation) else { return }
        consume(-1, of: index)
        if current.room[index] > 0, rows[index].account.isKnown { current.obstacles[index] = 0 }
    }

    private mutating func consume(_ count: Int64, of index: Int) {
        leases[index] = .min
        rows[index].part -= count
        rows[index].account.consume(count)
        if current.room[index] < .max { current.room[index] -= Int32(count) }
    }

    /// Ends the reservation of a slot.
    ///
    /// - Returns: True if the reservation existed.
    private mutating func release(_ index: Int, _ reservation: ReservationID) -> Bool {
        guard reservations.release(index, reservation) > 0 else { return false }
        leases[index] = .min
        current.reserved[index] = reservations[index]
        return true
    }

    /// Queues an impression for the process that reserved the slot, if other processes may exist.
    private mutating func queueRemote(_ index: Int, _ reservation: ReservationID) {
        guard isShared, processes != 1 else { return }
        let seen = RemoteImpressions(campaign: campaignIndex.campaigns[index].id, reservation: reservation, count: 0)
        if seenElsewhere.count < Self.elsewhereCapacity || seenElsewhere[seen] != nil { seenElsewhere[seen, default: 0] += 1 }
    }

    /// Counts an event that the ledger has committed.
    ///
    /// - Parameter reservation: The reservation in the token of the event.
    mutating func didCommit(_ index: Int, _ kind: LedgerEvent.Kind, _ reservation: ReservationID?) {
        guard let goal = rows[index].goal else { return }
        if kind == .impression, let reservation {
            if reservation.process == process { _ = release(index, reservation) } else { queueRemote(index, reservation) }
        }
        guard kind == goal.kind else { return }
        leases[index] = .min
        rows[index].account.countOne()
        // A campaign that has reached its goal is no longer served, without waiting for the next evaluation.
        if let reached = rows[index].account.obstacle(goal) {
            current.room[index] = 0
            current.obstacles[index] = reached.rawValue
        }
    }
}
