internal import Glibc
internal import Synchronization

/// Counts that many threads add to and few read: each thread adds to one of several copies, so that the event loops do not fight over
/// cache lines. A sum can be read while others add; it is then one of the values in between.
///
/// `@unchecked Sendable`: the pointer never changes, and what it points to are atomics.
final class StripedCounter: @unchecked Sendable {
    private static let stripes = 4
    /// Cells of 8 bytes in a cache line.
    private static let line = 8

    private let cells: UnsafeMutablePointer<Atomic<Int>>
    private let width: Int
    /// Width rounded up to whole cache lines, and one line more: the allocation need not begin at one.
    private let stride: Int

    /// - Parameter width: cells, all zero.
    init(width: Int) {
        self.width = max(1, width)
        stride = (self.width + Self.line - 1) / Self.line * Self.line + Self.line
        cells = .allocate(capacity: stride * Self.stripes)
        for index in 0..<stride * Self.stripes { (cells + index).initialize(to: Atomic(0)) }
    }

    deinit {
        cells.deinitialize(count: stride * Self.stripes)
        cells.deallocate()
    }

    /// Adds to a cell; indices outside of the width are passed over.
    @inline(__always)
    func add(_ amount: Int, to cell: Int, stripe: Int = StripedCounter.stripe) {
        guard cell >= 0, cell < width else { return }
        cells[stripe &* stride &+ cell].wrappingAdd(amount, ordering: .relaxed)
    }

    func sum(of cell: Int) -> Int {
        guard cell >= 0, cell < width else { return 0 }
        return (0..<Self.stripes).reduce(0) { $0 &+ cells[$1 * stride + cell].load(ordering: .relaxed) }
    }

    /// Sets all copies of a cell to zero.
    func clear(_ cell: Int) {
        guard cell >= 0, cell < width else { return }
        for stripe in 0..<Self.stripes { cells[stripe * stride + cell].store(0, ordering: .relaxed) }
    }

    /// The calling thread's copy. Thread descriptors lie far apart; the multiplication (Fibonacci hashing) spreads them.
    static var stripe: Int {
        let hash = UInt64(pthread_self()) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: hash >> 62)
    }
}
