import Testing

@testable import IntertwineFeed

@Suite("Ids as bytes")
struct ByteStringTests {
    static let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    let now = Fixture.now

    /// One user and one advertisement, because the in-memory store compares ids by Swift's equality.
    private func fixture() throws -> Fixture {
        let fixture = try Fixture(advertisements: 1)
        for (item, lane) in [(Fixture.user("u", at: 1), StreamID.content), (Fixture.advertisement("a", at: 9_000), .advertisements)] {
            fixture.store.put(
                FeedItem(kind: item.kind, id: Self.composed, variant: item.variant, position: item.position, body: item.body), in: lane)
        }
        return fixture
    }

    @Test("Byte strings are equal only if their bytes are equal")
    func equality() {
        #expect(ByteString(Self.composed) != ByteString(Self.decomposed) && Self.composed == Self.decomposed)
        #expect(ByteString("\u{212A}") != ByteString("K") && ByteString("K") == "K")
        #expect(Set([Self.composed, Self.decomposed, Self.composed].map { ByteString($0) }).count == 2)
    }

    @Test("A dismissed cell does not hide a cell with a canonically equivalent id")
    func hidden() async throws {
        let fixture = try fixture()
        #expect(try await fixture.page(hidden: [ByteString("user:\(Self.decomposed)")]).contentIDs.count == 1)
        #expect(try await fixture.page(hidden: [ByteString("user:\(Self.composed)")]).contentIDs.isEmpty)
    }

    @Test("An invocation can be undone only by a viewer with identical bytes")
    func undo() async throws {
        let fixture = try fixture()
        let performer = fixture.performer()
        let owner = ClientFingerprint(viewer: Self.composed)
        _ = try await performer.perform(.dismissal, of: "user:\(Self.composed)", for: owner, now: now, response: { $0.json() })
        let id = try #require(fixture.ledger.selectionIDs.first)
        await #expect(throws: ActionError.unknownInvocation(id)) {
            try await performer.undo(invocation: id, for: ClientFingerprint(viewer: Self.decomposed), now: now)
        }
        #expect(try await performer.undo(invocation: id, for: owner, now: now).count == 2)
    }

    @Test("Cell ids and tokens are compared by bytes in impressions and clicks")
    func tokens() async throws {
        let fixture = try fixture()
        let token = fixture.tokens.impression(cell: "ad:\(Self.composed)", slot: 0, now: now)
        let client = ClientFingerprint(userAgent: "test")
        let verdicts = try await fixture.performer().impressions(
            [.init(cell: "ad:\(Self.decomposed)", token: token), .init(cell: "ad:\(Self.composed)", token: token)], for: client, now: now)
        #expect(verdicts == [.unknown, .counted])
        let performer = fixture.performer()
        // This token contains a K, which Swift considers equal to the Kelvin sign.
        let click = try #require(
            (0..<200).lazy.map { fixture.tokens.click(cell: "ad:0", slot: $0, now: now) }.first { $0.contains("K") })
        #expect(try await performer.click(token: click, for: client, now: now).cell == "ad:0")
        await #expect(throws: ActionError.forgedToken) {
            try await performer.click(token: click.replacing("K", with: "\u{212A}"), for: client, now: now)
        }
    }

    @Test("Cells with ids of different bytes are distinct in a list of changes")
    func changes() {
        let (one, other) = (ClientCell(id: Self.composed, digest: 1), ClientCell(id: Self.decomposed, digest: 1))
        let changes = ListDiff(from: [one], to: [other])
        #expect(changes.removed == [0] && changes.inserted == [0])
    }
}
