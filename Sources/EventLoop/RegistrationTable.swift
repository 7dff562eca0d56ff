/// Who handles which registered descriptor: slots that are used again, each time under a new generation.
struct RegistrationTable {
    private struct Slot {
        var handler: (any EventHandler)?
        var descriptor: Int32
        var generation: UInt32
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    /// The number of live registrations.
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

    /// The descriptor that was registered, or nil where the registration is over.
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
        // Never 0: tokens of that generation are the loop's own.
        slots[slot].generation = slots[slot].generation == .max ? 1 : slots[slot].generation + 1
        free.append(UInt32(slot))
    }
}
