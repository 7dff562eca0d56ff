import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Cursors")
struct CursorTests {
    @Test("A mutated cursor fails with an invalid cursor error", arguments: 0..<4)
    func mutations(seed: Int) async throws {
        let placement: any AdPlacement = seed % 2 == 0 ? EveryPlacement(every: 3) : MidpointPlacement()
        let fixture = try Fixture(users: 30, advertisements: 3, placement: placement)
        let assembler = fixture.assembler()
        let genuine = try #require(try await fixture.page(limit: 5).next.flatMap(Fixture.cursor))
        try assembler.validate(cursor: genuine)
        var random = SeededRandom(seed: UInt64(seed))
        for _ in 0..<2_500 {
            let text = Mutation.of(genuine, using: &random)
            guard text != genuine else { continue }
            #expect(throws: FeedError.cursor(.invalid)) { try assembler.validate(cursor: text) }
        }
    }

    @Test(
        "Cursors are signed with HMAC-SHA256",
        arguments: [
            ([], "O4bBPIHA-RvKWGM-WrHIobhOaaA"), (Array("abc".utf8), "O4bBPGFiY2oWrW0FTZBmVfmxFOh2c4Q"),
        ])
    func knownAnswer(payload: [UInt8], text: String) throws {
        let signer = SigningKeys(current: try SigningKey(Array(0..<32))).signer(for: .cursor)
        #expect(signer.sign(payload) == text)
        #expect(signer.payload(of: text) == payload)
    }

    @Test("A cursor with one changed character is invalid, including the last character's unused bits")
    func everyCharacter() async throws {
        let fixture = try Fixture(users: 30)
        let assembler = fixture.assembler()
        let genuine = Array(try #require(try await fixture.page(limit: 5).next.flatMap(Fixture.cursor)).utf8)
        for index in genuine.indices {
            for character in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=".utf8 where character != genuine[index] {
                var bytes = genuine
                bytes[index] = character
                #expect(throws: FeedError.cursor(.invalid)) { try assembler.validate(cursor: String(decoding: bytes, as: UTF8.self)) }
            }
        }
    }

    @Test("Cursors of another key or feed, and tokens, are refused as cursors")
    func foreign() async throws {
        let fixture = try Fixture(users: 30)
        let other = try Fixture(users: 30, keyByte: 8)
        let cursor = try #require(try await fixture.page(limit: 5).next.flatMap(Fixture.cursor))
        #expect(throws: FeedError.cursor(.invalid)) { try other.assembler().validate(cursor: cursor) }
        #expect(throws: FeedError.cursor(.otherFeed)) { try fixture.assembler(name: "saved").validate(cursor: cursor) }
        let token = fixture.tokens.click(cell: "ad:1", slot: 0, now: Fixture.now)
        #expect(throws: FeedError.cursor(.invalid)) { try fixture.assembler().validate(cursor: token) }
        #expect(throws: FeedError.cursor(.invalid)) { try fixture.assembler().validate(cursor: "") }
        await #expect(throws: FeedError.cursor(.invalid)) { try await fixture.page("AAAA") }
    }

    @Test("Cursors of the previous key are accepted until the key rotation ends")
    func rotation() async throws {
        var fixture = try Fixture(users: 30)
        let cursor = try #require(try await fixture.page(limit: 5).next.flatMap(Fixture.cursor))
        let old = fixture.keys.current
        fixture.keys = SigningKeys(current: try SigningKey(Array(repeating: 9, count: 32)), previous: old)
        let page = try await fixture.page(cursor, limit: 5)
        #expect(page.contentIDs.first == "user:u5")
        fixture.keys = SigningKeys(current: fixture.keys.current)
        #expect(throws: FeedError.cursor(.invalid)) { try fixture.assembler().validate(cursor: cursor) }
    }

    @Test("A walk can change its page limit")
    func limit() async throws {
        let fixture = try Fixture(users: 30)
        let first = try await fixture.page(limit: 5)
        let next = try await fixture.page(first.next.flatMap(Fixture.cursor), limit: 11)
        #expect(next.contentIDs == (5..<16).map { "user:u\($0)" })
        #expect(next.next?.hasSuffix("&limit=11") == true)
    }
}
