/// Events that a descriptor is watched for, or that it became ready for.
///
/// ```swift
/// let events: ReadyEvents = [.readable, .peerClosed]
/// events.contains(.writable)  // false
/// ```
package struct ReadyEvents: OptionSet, Sendable {
    /// The bits of epoll(7).
    package let rawValue: UInt32

    /// Creates a set from the bits of epoll(7).
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Bytes to read, a connection to accept, or the end of the stream are available.
    package static let readable = ReadyEvents(rawValue: 0x001)
    /// The descriptor accepts bytes to write.
    package static let writable = ReadyEvents(rawValue: 0x004)
    /// The descriptor failed. Reported even if not requested.
    package static let failed = ReadyEvents(rawValue: 0x008)
    /// Both directions are closed. Reported even if not requested.
    package static let hungUp = ReadyEvents(rawValue: 0x010)
    /// The peer has closed its sending side.
    package static let peerClosed = ReadyEvents(rawValue: 0x2000)
}

/// Receives the events of a descriptor that is registered with an ``EventLoop``. Called only on the loop.
package protocol EventHandler: AnyObject {
    /// Handles the events that the descriptor is ready for. Events are level-triggered: unread bytes are reported again.
    func ready(_ events: ReadyEvents)
}

/// An identifier of one registration of a descriptor with a loop. The token of an ended registration never equals a later one,
/// even if the kernel reuses the descriptor number.
package struct Registration: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    /// The token that epoll stores with the descriptor.
    var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    init(token: UInt64) {
        self.slot = UInt32(truncatingIfNeeded: token)
        self.generation = UInt32(truncatingIfNeeded: token >> 32)
    }
}

/// A table of registered descriptors and their handlers. Its slots are reused, each time with a new generation.
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

    /// Removes a registration and returns its descriptor, or nil if the registration has ended.
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
