import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

@Suite("Shared body buffer", .timeLimit(.untilStuck))
struct SharedBodyBufferTests {
    private func append(_ bytes: [UInt8], to spool: SharedBodyBuffer) -> Bool {
        bytes.withUnsafeBytes { spool.append($0) }
    }

    private func pieces(_ spool: SharedBodyBuffer) async throws -> [[UInt8]] {
        var place = SharedBodyBuffer.Place()
        var pieces: [[UInt8]] = []
        while let piece = try await spool.next(at: &place, for: 1) { pieces.append(piece) }
        return pieces
    }

    @Test("A body in single bytes has little overhead, and is read in large chunks")
    func crumbs() async throws {
        let budget = MemoryBudget(limit: 110_000)
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        do {
            let spool = SharedBodyBuffer(budget: budget)
            #expect(body.allSatisfy { append([$0], to: spool) })
            spool.finish(.complete)
            #expect(spool.contents == body)
            let pieces = try await pieces(spool)
            #expect(pieces.count < 20 && Array(pieces.joined()) == body)
            #expect(budget.inUse >= body.count && budget.inUse < body.count + 20 * 64 + 1)
        }
        #expect(budget.inUse == 0)
    }

    @Test("Chunks count with their overhead, and rejected ones use no memory")
    func cost() {
        let budget = MemoryBudget(limit: 20_000)
        let spool = SharedBodyBuffer(budget: budget)
        #expect(append([UInt8](repeating: 1, count: 10_000), to: spool))
        #expect(!append([UInt8](repeating: 2, count: 10_000), to: spool))
        #expect(budget.inUse == 10_064)
        #expect(append([3], to: spool) && spool.contents.count == 10_001)
    }

    @Test("Each reader gets the same bytes, whenever it joins", arguments: 0..<8)
    func readers(seed: UInt64) async throws {
        var generator = SeededRandom(seed: seed)
        let spool = SharedBodyBuffer(budget: MemoryBudget(limit: .max))
        var body: [UInt8] = []
        var places: [(place: SharedBodyBuffer.Place, got: [UInt8])] = []
        for number in 0..<150 {
            let size = [1, 1, 7, 900, 4_096, 5_000, 16_384].randomElement(using: &generator) ?? 1
            let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
            #expect(append(piece, to: spool))
            body += piece
            if places.count < 5, Int.random(in: 0..<20, using: &generator) == 0 { places.append((SharedBodyBuffer.Place(), [])) }
            for index in places.indices where Bool.random(using: &generator) {
                while places[index].got.count < body.count, let bytes = try await spool.next(at: &places[index].place, for: 1) {
                    #expect(!bytes.isEmpty)
                    places[index].got += bytes
                }
                #expect(places[index].got.count == body.count)
            }
        }
        spool.finish(.complete)
        for var (place, got) in places {
            while let bytes = try await spool.next(at: &place, for: 1) { got += bytes }
            #expect(got == body)
        }
        #expect(spool.contents == body)
    }
}
