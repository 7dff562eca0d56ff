import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineItems
@testable import IntertwineLedger

@Suite("Skipping of dismissed items")
struct HiddenRunTests {
    /// The dismissed cells, and the number of withdrawals.
    private final class Dismissals: ViewerStateStore, CellSet {
        private let state = Mutex<(cells: Set<String>, withdrawals: Int64)>(([], 0))

        func hide(_ cells: some Sequence<String>) { state.withLock { $0.cells.formUnion(cells) } }

        func withdraw(_ cell: String) {
            state.withLock {
                $0.cells.remove(cell)
                $0.withdrawals += 1
            }
        }

        func contains(_ cell: String) -> Bool { state.withLock { $0.cells.contains(cell) } }
        func removalGeneration() -> Int64? { state.withLock { $0.withdrawals } }

        func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value { try body(ViewerState(dismissed: self)) }
    }

    /// The content of the store, and the number of items that were read.
    private final class CountingSource: DataSource {
        private let source = FlatDataSource()
        private let read = Atomic(0)
        var sections: [FeedSection] { source.sections }

        var count: Int { read.exchange(0, ordering: .relaxed) }

        func visit(_ query: SectionQuery, in snapshot: any FeedSnapshot, _ body: (ItemRow) throws -> Void) throws {
            try source.visit(query, in: snapshot) { row in
                read.add(1, ordering: .relaxed)
                try body(row)
            }
        }
    }

    private let fixture: Fixture
    private let assembler: FeedAssembler
    private let source = CountingSource()
    private let dismissals = Dismissals()

    init() throws {
        var fixture = try Fixture(users: 3_000)
        fixture.source = source
        self.fixture = fixture
        assembler = fixture.assembler()
    }

    private func page(_ cursor: String? = nil, limit: Int = 3) async throws -> (ids: [String], next: String?, previous: String?) {
        let page = try await assembler.page(
            FeedRequest(cursor: cursor, limit: limit, now: Fixture.now),
            for: PageClient(viewer: PageClient.Viewer("ann", state: dismissals)))
        func name(in href: String?) -> String? { href.flatMap(Fixture.cursor(in:)) }
        return (page.entries.map { $0.cell.id }, name(in: page.next), name(in: page.previous))
    }

    private func users(_ range: Range<Int>) -> [String] { range.map { "user:u\($0)" } }

    @Test(
        "A page skips dismissed runs already read, and reads a new run once"
    )
    func stepped() async throws {
        dismissals.hide(users(0..<2_000))
        #expect(try await page().ids == users(2_000..<2_003))
        #expect(source.count >= 2_000)
        #expect(try await page().ids == users(2_000..<2_003))
        #expect(source.count < 64)
        #expect(try await page(limit: 20).ids == users(2_000..<2_020))
        #expect(source.count < 64)
        // This walk begins with a page of visible items.
        dismissals.hide(users(2_010..<2_900))
        let first = try await page(limit: 8)
        _ = source.count
        for expected in [890..<4_000, 0..<640] {
            #expect(try await page(first.next, limit: 8).ids == users(2_008..<2_010) + users(2_900..<2_906))
            #expect(expected.contains(source.count))
        }
        dismissals.hide(users(2_000..<2_010))
        #expect(try await page().ids == users(2_900..<2_903))
        #expect(source.count >= 900)
        #expect(try await page().ids == users(2_900..<2_903))
        #expect(source.count < 64)
    }

    @Test("A withdrawn dismissal, a new item and a new dismissal change the next page")
    func changed() async throws {
        dismissals.hide(users(0..<2_000))
        for _ in 0..<2 { #expect(try await page().ids == users(2_000..<2_003)) }
        dismissals.withdraw("user:u700")
        for _ in 0..<2 { #expect(try await page().ids == users(700..<701) + users(2_000..<2_002)) }
        fixture.store.put(Fixture.user("new", at: 1_500))
        for _ in 0..<2 { #expect(try await page().ids == ["user:new"] + users(700..<701) + users(2_000..<2_001)) }
        dismissals.hide(["user:new", "user:u700"])
        for _ in 0..<2 { #expect(try await page().ids == users(2_000..<2_003)) }
    }

    @Test("A backward walk across a long dismissed run returns the items before it")
    func backward() async throws {
        dismissals.hide(users(5..<2_000))
        for _ in 0..<2 {
            let first = try await page(limit: 4)
            let second = try await page(first.next, limit: 4)
            #expect(first.ids == users(0..<4) && second.ids == users(4..<5) + users(2_000..<2_003))
            let third = try await page(second.next, limit: 4)
            #expect(try await page(third.previous, limit: 4).ids == second.ids)
            #expect(try await page(second.previous, limit: 4).ids == first.ids)
        }
    }
}
