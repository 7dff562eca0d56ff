import Testing

@testable import IntertwineFeed

@Suite("Layouts and sizes")
struct LayoutTests {
    @Test("Table cells are rows with the client's width")
    func table() async throws {
        let fixture = try Fixture(users: 1, advertisements: 1)
        fixture.store.put(Fixture.user("f", at: 9000, variant: "featured"))
        let page = try await fixture.assembler().page(FeedRequest(now: Fixture.now, layout: .table, width: 414))
        #expect(
            page.entries.map(\.cell.identifier) == ["UserTableViewCell", "AdvertisementTableViewCell", "CircularUserTableViewCell"])
        #expect(page.entries.allSatisfy { String(decoding: $0.json, as: UTF8.self).contains(#""size":{"width":414,"#) })
        let collection = try await fixture.page()
        #expect(page.ids == collection.ids)
        let rows = try page.entries.map { try fixture.viewModel(of: $0, layout: .table, width: 414).subject.destination }
        #expect(try rows == collection.entries.map { try fixture.viewModel(of: $0).subject.destination })
    }

    @Test("Without a width, cells have the documented sizes")
    func contract() async throws {
        let fixture = try Fixture(users: 1, advertisements: 1)
        fixture.store.put(Fixture.user("f", at: 9000, variant: "featured"))
        let sizes = try await fixture.page().entries.map { try fixture.viewModel(of: $0).size }
        #expect(
            sizes == [
                CellSize(width: 300, height: 200, textHeight: 24), CellSize(width: 220, height: 220),
                CellSize(width: 300, height: 190, textHeight: 24),
            ])
    }

    @Test("Next and previous links preserve layout and width", arguments: CellLayout.allCases, [nil, 1, 390])
    func hrefs(layout: CellLayout, width: Int?) async throws {
        let fixture = try Fixture(users: 9, advertisements: 2)
        let expected = (layout == .table ? "&layout=table" : "") + (width.map { "&width=\($0)" } ?? "")
        var request = FeedRequest(limit: 4, now: Fixture.now, layout: layout, width: width)
        let first = try await fixture.assembler().page(request)
        #expect(first.next?.hasSuffix("&limit=4" + expected) == true)
        request.cursor = first.next.flatMap(Fixture.cursor)
        let second = try await fixture.assembler().page(request)
        #expect(second.previous?.hasSuffix("&limit=4" + expected) == true)
        request.cursor = second.previous.flatMap(Fixture.cursor)
        #expect(try await fixture.assembler().page(request).json() == first.json())
    }

    @Test("A variant without a table cell is omitted only from tables")
    func missingLayout() async throws {
        var fixture = try Fixture(users: 2)
        let plan = try CellCommands(kind: "ad", slots: [:], registry: .standard, offers: [])
        try fixture.factories.register(
            AdvertisementCellFactory(plan: plan), for: ItemType(kind: "ad", variant: "video"), prefix: "ad",
            stream: .advertisements)
        fixture.store.put(Fixture.advertisement("clip", at: 1, variant: "video"), in: .advertisements)
        #expect(try await fixture.page().ids == ["user:u0", "ad:clip", "user:u1"])
        let table = try await fixture.assembler().page(FeedRequest(now: Fixture.now, layout: .table))
        #expect(table.ids == ["user:u0", "user:u1"])
    }

    struct Case: Sendable {
        var rule: SizeRule
        var width: Int?
        var expected: CellSize
    }

    static let base = CellSize(width: 300, height: 200)

    @Test(
        "A size is a share of the width, limited and rounded to whole points",
        arguments: [
            Case(rule: SizeRule(base), width: 1000, expected: base),
            Case(rule: SizeRule(base, fraction: 0.5), width: nil, expected: base),
            Case(rule: SizeRule(base, fraction: 0.5), width: 375, expected: CellSize(width: 188, height: 200)),
            Case(rule: SizeRule(base, fraction: 0.5, aspectRatio: 1.5), width: 375, expected: CellSize(width: 188, height: 125)),
            Case(rule: SizeRule(base, fraction: 0.5, minimum: 250), width: 375, expected: CellSize(width: 250, height: 200)),
            Case(rule: SizeRule(base, fraction: 0.5, minimum: 250), width: 200, expected: CellSize(width: 200, height: 200)),
            Case(
                rule: SizeRule(base, fraction: 1, aspectRatio: 2, maximum: 400), width: 10_000, expected: CellSize(width: 400, height: 200)),
            Case(
                rule: SizeRule(CellSize(width: 300, height: 200, textHeight: 44), fraction: 0.5, aspectRatio: 1), width: 400,
                expected: CellSize(width: 200, height: 200, textHeight: 44)),
            Case(
                rule: SizeRule(CellSize(width: 300, height: 200, textHeight: 44), fraction: 0.1, aspectRatio: 1), width: 100,
                expected: CellSize(width: 10, height: 10, textHeight: 10)),
            Case(rule: SizeRule(base, fraction: 0.01, aspectRatio: 100), width: 1, expected: CellSize(width: 1, height: 1)),
        ])
    func rules(table: Case) {
        #expect(table.rule.size(width: table.width) == table.expected)
    }
}
