internal import Synchronization

/// A fixed number of places, each filled once, by whoever comes first. Reading one takes no lock.
///
/// `@unchecked Sendable`: the pointer never changes, and what it points to are atomics, each zero or the address of a retained value.
/// (The library's `AtomicLazyReference` does the same by a call that looks up its type each time.)
final class LazyTable<Value: AnyObject & Sendable>: @unchecked Sendable {
    private let places: UnsafeMutablePointer<Atomic<UInt>>
    private let count: Int

    init(count: Int) {
        self.count = count
        places = .allocate(capacity: count)
        for index in 0..<count { (places + index).initialize(to: Atomic(0)) }
    }

    deinit {
        for index in 0..<count { Self.reference(places[index].load(ordering: .acquiring))?.release() }
        places.deinitialize(count: count)
        places.deallocate()
    }

    /// The value at a place, made now if there is none; nil outside of the table.
    func value(at index: Int, _ make: () -> Value) -> Value? {
        guard index >= 0, index < count else { return nil }
        if let known = Self.reference(places[index].load(ordering: .acquiring)) { return known.takeUnretainedValue() }
        let made = Unmanaged.passRetained(make())
        let (isFirst, winner) = places[index].compareExchange(
            expected: 0, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
        guard !isFirst else { return made.takeUnretainedValue() }
        made.release()
        return Self.reference(winner)?.takeUnretainedValue()
    }

    private static func reference(_ bits: UInt) -> Unmanaged<Value>? {
        UnsafeRawPointer(bitPattern: bits).map { Unmanaged.fromOpaque($0) }
    }
}
