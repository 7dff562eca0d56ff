import Synchronization
import Testing

@testable import IntertwineFeed

@Suite("A cache of one value by store version")
struct VersionedCacheTests {
    private func version(_ number: UInt64) -> StoreVersion { StoreVersion(high: 0, low: number) }
    private func place(_ position: Int64) -> FeedPosition { FeedPosition(item: SortPosition(position: position)) }

    @Test("A quick lookup runs once per store version")
    func quick() throws {
        let midpoint = VersionedCache<FeedPosition?>(maximumWait: .seconds(3_600))
        var looks = 0
        for number in [1, 1, 2, 2, 2] as [UInt64] {
            let found = try midpoint.value(at: version(number)) {
                looks += 1
                return place(Int64(number))
            } aside: {
                Issue.record("nobody has to wait")
            }
            #expect(found == place(Int64(number)))
        }
        #expect(looks == 2)
    }

    @Test("Concurrent first requests share one lookup")
    func first() async throws {
        let midpoint = VersionedCache<FeedPosition?>(maximumWait: .milliseconds(20))
        let looks = Count()
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    try midpoint.value(at: StoreVersion(high: 0, low: 1)) {
                        looks.value.withLock { $0 += 1 }
                        return FeedPosition(item: SortPosition(position: 1))
                    } aside: {
                        Issue.record("the store has not changed")
                    }
                }
            }
            for try await found in group { #expect(found == place(1)) }
        }
        #expect(looks.value.withLock { $0 } == 1)
    }

    @Test("A slow lookup serves the cached value and renews it in one background lookup")
    func slow() async throws {
        let midpoint = VersionedCache<FeedPosition?>(maximumWait: .zero)
        let aside = Mutex(0)
        func count() -> Int { aside.withLock { $0 } }
        func ask(_ number: UInt64) throws -> FeedPosition? {
            try midpoint.value(at: version(number)) {
                place(Int64(number))
            } aside: {
                aside.withLock { $0 += 1 }
            }
        }
        #expect(try ask(1) == place(1))
        // The lookup lasted some nanoseconds, so a renewal is due at once.
        while count() == 0 { #expect(try ask(2) == place(1)) }
        for _ in 0..<100 { #expect(try ask(3) == place(1)) }
        #expect(count() == 1)
        midpoint.renew(at: version(3)) { place(3) }
        #expect(try ask(3) == place(3))
        while count() == 1 { #expect(try ask(4) == place(3)) }
        struct Failure: Error {}
        midpoint.renew(at: version(4)) { throw Failure() }
        while count() == 2 { #expect(try ask(4) == place(3)) }
    }
}

private final class Count: Sendable {
    let value = Mutex(0)
}
