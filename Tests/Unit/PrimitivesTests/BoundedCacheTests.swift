import TestSupport
import Testing

@testable import IntertwinePrimitives

@Suite("Bounded cache")
struct BoundedCacheTests {
    @Test("The number of entries is bounded, and the recently used half stays", arguments: [1, 2, 3, 10, 11])
    func bounded(limit: Int) {
        var cache = BoundedCache<Int, Int>(limit: limit)
        for key in 0..<1_000 {
            cache[key] = -key
            #expect(cache.count <= limit && cache.cost == cache.count && cache[key] == -key)
            for recent in max(0, key - max(limit / 2, 1) + 1)...key { #expect(cache.peek(recent) == -recent) }
        }
        #expect(cache.count >= limit / 2 && cache[0] == nil)
    }

    @Test("An entry that is used stays, and one that is only peeked at does not")
    func used() {
        var cache = BoundedCache<Int, String>(limit: 10)
        cache[-1] = "used"
        cache[-2] = "peeked"
        for key in 0..<100 {
            cache[key] = ""
            #expect(cache[-1] == "used")
            _ = cache.peek(-2)
        }
        #expect(cache.peek(-2) == nil)
    }

    @Test("Costs are bounded; an entry above the limit is not stored, and replaces an older one of its key")
    func costs() {
        var cache = BoundedCache<String, [UInt8]>(limit: 100) { $1.count }
        cache["a"] = [UInt8](repeating: 1, count: 60)
        #expect(cache.cost == 60)
        cache["b"] = [UInt8](repeating: 2, count: 50)
        #expect(cache.cost == 50 && cache["a"] == nil)
        cache["b"] = [UInt8](repeating: 3, count: 101)
        #expect(cache.cost == 0 && cache["b"] == nil && cache.count == 0)
        cache["c"] = [UInt8](repeating: 4, count: 100)
        #expect(cache["c"]?.count == 100)
    }

    @Test("Entries are removed by key, by predicate and together")
    func removal() {
        var cache = BoundedCache<Int, Int>(limit: 20)
        for key in 0..<15 { cache[key] = key }
        cache[3] = nil
        cache.removeAll { key, _ in key > 7 }
        #expect(Set(cache.entries.map(\.key)) == [0, 1, 2, 4, 5, 6, 7] && cache.cost == 7)
        cache.removeAll()
        #expect(cache.count == 0 && cache.cost == 0 && cache[0] == nil)
    }

    @Test("In any sequence of operations the cache has the last value of a key or none, and its cost is that of its entries")
    func anySequence() {
        var generator = SeededRandom(seed: 5)
        var cache = BoundedCache<Int, Int>(limit: 50) { $1 }
        var values: [Int: Int] = [:]
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<20, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: (cache[key], values[key]) = (nil, nil)
            case 1: if let value = cache[key] { #expect(value == values[key]) }
            default:
                let value = Int.random(in: 0...55, using: &generator)
                (cache[key], values[key]) = (value, value)
                #expect((cache.peek(key) == value) == (value <= 50))
            }
            #expect(cache.cost <= 50 && cache.cost == cache.entries.reduce(0) { $0 + $1.value })
        }
    }
}

@Suite("Shared requests, cancellation and hashes")
struct RequestCoalescerTests {
    @Test("The first waiter of a key starts the work, and all of them get its result")
    func coalesced() {
        var requests = RequestCoalescer<String, Int>()
        #expect(requests.join("a", 1, 10) && !requests.join("a", 2, 20) && requests.join("b", 3, 30))
        #expect(requests.isActive("a") && !requests.isActive("c"))
        #expect(!requests.leave("a", 1) && !requests.leave("a", 1))
        #expect(requests.complete("a") == [20] && requests.complete("a").isEmpty && !requests.isActive("a"))
        // Work without waiters goes on, and may be joined.
        #expect(requests.leave("b", 3) && requests.isActive("b") && !requests.join("b", 4, 40) && requests.complete("b") == [40])
    }

    @Test("Tokens have different numbers, and remember a cancellation")
    func tokens() {
        let (one, other) = (CancellationToken(), CancellationToken())
        #expect(one.number != other.number && !one.isCancelled)
        one.cancel()
        #expect(one.isCancelled && !other.isCancelled)
    }

    @Test("Hashes have the published values")
    func hashes() {
        #expect(FNV1a.hash("".utf8) == 0xCBF2_9CE4_8422_2325 && FNV1a.hash("foobar".utf8) == 0x8594_4171_F739_67E8)
        #expect(FNV1a.hash("bar".utf8, after: FNV1a.hash("foo".utf8)) == FNV1a.hash("foobar".utf8))
        #expect(FNV1a.hash32("foobar".utf8) == 0xBF9C_F968)
        var hash = FNV1a()
        for byte in "foobar".utf8 { hash.combine(byte) }
        #expect(hash.value == FNV1a.hash("foobar".utf8))
        #expect(SplitMix64.mix(SplitMix64.increment) == 0xE220_A839_7B1D_CDAF)
    }
}
