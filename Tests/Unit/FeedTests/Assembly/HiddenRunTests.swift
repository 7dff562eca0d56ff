import Synchronization
import Testing

@testable import IntertwineFeed

@Suite("Skipping of dismissed items")
struct HiddenRunTests {
    private final class Dismissals: ViewerStateStore, CellSet {
        private let cells = Mutex<Set<String>>([])

        func hide(_ cells: some Sequence<String>) { self.cells.withLock { $0.formUnion(cells) } }

        func withdraw(_ cell: String) { _ = cells.withLock { $0.remove(cell) } }

        func contains(_ cell: String) -> Bool { cells.withLock { $0.contains(cell) } }

        func cells(limit: Int) -> [String] { cells.withLock { Array($0.prefix(limit)) } }

        func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value { try body(ViewerState(dismissed: self)) }
    }

    private let fixture: Fixture
    private let assembler: FeedAssembler
    private let dismissals = Dismissals()

    init() throws {
        fixture = try Fixture(users: 3_000)
        assembler = fixture.assembler()
    }

    private func page(_ cursor: String? = nil, limit: Int = 3) async throws -> (ids: [String], next: String?, previous: String?) {
        let page = try await assembler.page(
            FeedRequest(cursor: cursor, limit: limit, now: Fixture.now),
            for: PageClient(viewer: ("ann", dismissals)))
        func name(in href: String?) -> String? { href.flatMap(Fixture.cursor(in:)) }
        return (page.entries.map { $0.cell.id }, name(in: page.next), name(in: page.previous))
    }

    private func users(_ range: Range<Int>) -> [String] { range.map { "user:u\($0)" } }

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
