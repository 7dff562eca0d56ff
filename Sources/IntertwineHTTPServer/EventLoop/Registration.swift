package struct ReadyEvents: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let readable = ReadyEvents(rawValue: 0x001)
    package static let writable = ReadyEvents(rawValue: 0x004)
    /// Reported even if not requested.
    package static let failed = ReadyEvents(rawValue: 0x008)
    /// Reported even if not requested.
    package static let hungUp = ReadyEvents(rawValue: 0x010)
    package static let peerClosed = ReadyEvents(rawValue: 0x2000)
}

package protocol EventHandler: AnyObject {
    func ready(_ events: ReadyEvents)
}

/// The token of an ended registration never equals a later one, even if the kernel reuses the descriptor number.
package struct Registration: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    init(token: UInt64) {
        self.slot = UInt32(truncatingIfNeeded: token)
        self.generation = UInt32(truncatingIfNeeded: token >> 32)
    }
}

struct RegistrationTable {
    private struct Slot {
        var handler: (any EventHandler)?
        var descriptor: Int32
        var generation: UInt32
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    var count: Int { slots.count - free.count }

    mutating func insert(_ handler: any EventHandler, descriptor: Int32) -> Registration {
        if let slot = free.popLast() {
            let generation = slots[Int(slot)].generation
            slots[Int(slot)] = Slot(handler: handler, descriptor: descriptor, generation: generation)
            return Registration(slot: slot, generation: generation)
        }
        slots.append(Slot(handler: handler, descriptor: descriptor, generation: 1))
        return Registration(slot: UInt32(slots.count - 1), generation: 1)
    }

    mutating func remove(_ registration: Registration) -> Int32? {
        guard let descriptor = descriptor(of: registration) else { return nil }
        let slot = Int(registration.slot)
        empty(slot)
        return descriptor
    }

    func descriptor(of registration: Registration) -> Int32? {
        let slot = Int(registration.slot)
        guard slot < slots.count, slots[slot].generation == registration.generation, slots[slot].handler != nil else { return nil }
        return slots[slot].descriptor
    }

    func handler(of registration: Registration) -> (any EventHandler)? {
        let slot = Int(registration.slot)
        guard slot < slots.count, slots[slot].generation == registration.generation else { return nil }
        return slots[slot].handler
    }

    mutating func removeAll() {
        for slot in slots.indices where slots[slot].handler != nil {
            empty(slot)
        }
    }

    private mutating func empty(_ slot: Int) {
        slots[slot].handler = nil
        // Generation 0 is skipped: tokens with it belong to the loop's own descriptors.
        slots[slot].generation = slots[slot].generation == .max ? 1 : slots[slot].generation + 1
        free.append(UInt32(slot))
    }
}
