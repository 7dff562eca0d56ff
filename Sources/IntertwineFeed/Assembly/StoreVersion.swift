/// Tells one state of a store from another; equal values mean that nothing changed in between.
public struct StoreVersion: Sendable, Hashable {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
