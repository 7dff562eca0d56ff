/// Names one fetch within its ``Transfers``; never used twice.
public struct FetchID: Hashable, Sendable {
    let number: UInt64
}
