/// Names one scheduled coarse timer. A token outlives its timer harmlessly.
public struct TimerToken: Hashable, Sendable {
    let node: UInt32
    let generation: UInt32
}
