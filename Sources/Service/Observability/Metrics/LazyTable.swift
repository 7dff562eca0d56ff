internal import Synchronization

/// A fixed number of places, each filled once, by whoever comes first. Reading one takes no lock.
///
/// `@unchecked Sendable`: the pointer never changes, and what it points to are atomics.
final class LazyTable<Value: AnyObject & Sendable>: @unchecked Sendable {
    private let places: UnsafeMutablePointer<AtomicLazyReference<Value>>
    private let count: Int

    init(count: Int) {
        self.count = count
        places = .allocate(capacity: count)
        for index in 0..<count { (places + index).initialize(to: AtomicLazyReference()) }
    }

    deinit {
        places.deinitialize(count: count)
        places.deallocate()
    }

    /// The value at a place, made now if there is none; nil outside of the table.
    func value(at index: Int, _ make: () -> Value) -> Value? {
        guard index >= 0, index < count else { return nil }
        return places[index].load() ?? places[index].storeIfNil(make())
    }
}
