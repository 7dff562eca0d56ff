extension DeliveryState {
    private static let elsewhereCapacity = 65_536

    mutating func expire(_ now: Int64) {
        for campaign in reservations.expire(now) {
            leases[Int(campaign)] = .min
            needsBudget = true
        }
    }

    func reserved(by address: UInt16) -> [Int32: Int64] { reservations.reserved(by: address) }

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

    mutating func renew(_ index: Int, _ reservation: ReservationID, at now: Int64) -> ReservationID? {
        guard reservation.process == process, reservations.release(index, reservation) > 0 else { return nil }
        return ReservationID(
            process: process, slot: reservations.add(index, address: reservation.address, at: now), address: reservation.address)
    }

    private mutating func recordUse(of index: Int) {
        if rows[index].account.isRunningLow { needsBudget = true }
        if current.room[index] <= 0 { current.obstacles[index] = exhaustion(index).rawValue }
    }

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

    private mutating func release(_ index: Int, _ reservation: ReservationID) -> Bool {
        guard reservations.release(index, reservation) > 0 else { return false }
        leases[index] = .min
        current.reserved[index] = reservations[index]
        return true
    }

    private mutating func queueRemote(_ index: Int, _ reservation: ReservationID) {
        guard isShared, processes != 1 else { return }
        let seen = RemoteImpressions(campaign: campaignIndex.campaigns[index].id, reservation: reservation, count: 0)
        if seenElsewhere.count < Self.elsewhereCapacity || seenElsewhere[seen] != nil { seenElsewhere[seen, default: 0] += 1 }
    }

    mutating func didCommit(_ index: Int, _ kind: LedgerEvent.Kind, _ reservation: ReservationID?, isCounted: Bool) {
        guard let goal = rows[index].goal else { return }
        if kind == .impression, let reservation {
            if reservation.process == process { _ = release(index, reservation) } else { queueRemote(index, reservation) }
        }
        guard isCounted, kind == goal.kind else { return }
        leases[index] = .min
        rows[index].account.countOne()
        // A campaign that has reached its goal is no longer served, without waiting for the next evaluation.
        if let reached = rows[index].account.obstacle(goal) {
            current.room[index] = 0
            current.obstacles[index] = reached.rawValue
        }
    }
}
