internal import Glibc
internal import Synchronization

/// A set of counters for many writing threads and few readers. Each thread adds to one of several copies, so that event loops do not
/// contend for cache lines.
/// `@unchecked Sendable`: the pointer never changes, and its memory contains atomics.
final class StripedCounter: @unchecked Sendable {
    private static let stripes = 4
    private static let line = 8

    private let cells: UnsafeMutablePointer<Atomic<Int>>
    private let width: Int
    /// The width rounded up to whole cache lines, plus one line, because the allocation may begin within a line.
    private let stride: Int

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

    @inline(__always)
    func add(_ amount: Int, to cell: Int, stripe: Int = StripedCounter.stripe) {
        guard cell >= 0, cell < width else { return }
        cells[stripe &* stride &+ cell].wrappingAdd(amount, ordering: .relaxed)
    }

    func sum(of cell: Int) -> Int {
        guard cell >= 0, cell < width else { return 0 }
        return (0..<Self.stripes).reduce(0) { $0 &+ cells[$1 * stride + cell].load(ordering: .relaxed) }
    }

    func clear(_ cell: Int) {
        guard cell >= 0, cell < width else { return }
        for stripe in 0..<Self.stripes { cells[stripe * stride + cell].store(0, ordering: .relaxed) }
    }

    static var stripe: Int {
        let hash = UInt64(pthread_self()) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: hash >> 62)
    }
}
