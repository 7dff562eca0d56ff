/// Names one registration of a descriptor with a loop. A token of a finished registration is never mistaken for a
/// later one, even where the kernel hands out the same descriptor again.
public struct Registration: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    /// The form in which the kernel keeps it.
    var token: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    init(token: UInt64) {
        self.slot = UInt32(truncatingIfNeeded: token)
        self.generation = UInt32(truncatingIfNeeded: token >> 32)
    }
}
