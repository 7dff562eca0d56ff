import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Clicks and impressions")
struct ClickAndImpressionTests {
    let now = Fixture.now
    let client = ClientFingerprint(address: "192.0.2.0/24", addressHash: "a1", userAgent: "test")

    func token(_ fixture: Fixture) async throws -> String {
        let page = try await fixture.page()
        let cell = try fixture.viewModel(of: page.entries.first { $0.adSlot == 0 })
        guard case .link(let href) = cell.action(in: .selection) else { throw TestFailure() }
        return String(href.dropFirst("/click/".count))
    }

    @Test("A click leads to the stored URL and records one event")
    func click() async throws {
        let fixture = try Fixture(users: 2, advertisements: 1)
        let click = try await fixture.performer().click(token: token(fixture), for: client, now: now)
        #expect(click.location == "https://shop.example/0" && click.cell == "ad:0" && click.verdict == .counted)
        let event = try #require(fixture.ledger.events.first)
        #expect(fixture.ledger.events.count == 1 && event.kind == .click && event.cell == "ad:0")
        #expect(event.deduplication != nil && event.rates.count == 1)
    }

    @Test("Expired tokens redirect uncounted, deleted advertisements are gone, and forged tokens are refused")
    func outcomes() async throws {
        let fixture = try Fixture(users: 2, advertisements: 1)
        let token = try await token(fixture)
        let performer = fixture.performer()
        let late = now + 26 * 3_600_000
        #expect(try await performer.click(token: token, for: client, now: late).verdict == .expired)
        #expect(fixture.ledger.events.map(\.deduplication) == [nil])
        fixture.store.delete(kind: "ad", id: "0")
        await #expect(throws: ActionError.gone("ad:0")) { try await performer.click(token: token, for: client, now: now) }
        let impression = fixture.tokens.impression(cell: "ad:0", slot: 0, now: now)
        for forged in ["", "x", impression, token + "A", String(token.dropLast()), "https://evil.example", "//evil", "a\r\nb"] {
            await #expect(throws: ActionError.forgedToken) { try await performer.click(token: forged, for: client, now: now) }
        }
        #expect(fixture.ledger.events.count == 1)
    }

    @Test("A repeated click uses the currently stored URL, and its token still expires")
    func followedAgain() async throws {
        let fixture = try Fixture(users: 2, advertisements: 1)
        let token = try await token(fixture)
        let performer = fixture.performer()
        for _ in 0..<2 { #expect(try await performer.click(token: token, for: client, now: now).location == "https://shop.example/0") }
        let changed =
            #"{"kind":"ad","id":"0","contentUrl":"https://a.example","clickthroughUrl":"https://b.example/","type":"image"}"#
        var item = Fixture.advertisement("0", at: 1)
        item.body = Array(changed.utf8)
        fixture.store.put(item, in: .advertisements)
        for _ in 0..<2 { #expect(try await performer.click(token: token, for: client, now: now).location == "https://b.example/") }
        for _ in 0..<2 { #expect(try await performer.click(token: token, for: client, now: now + 26 * 3_600_000).verdict == .expired) }
        fixture.store.delete(kind: "ad", id: "0")
        await #expect(throws: ActionError.gone("ad:0")) { try await performer.click(token: token, for: client, now: now) }
    }

    @Test("A mutated click token is forged", arguments: 0..<4)
    func mutations(seed: Int) throws {
        let tokens = try Fixture().tokens
        let genuine = tokens.click(cell: "ad:1", slot: 0, now: now)
        var random = SeededRandom(seed: UInt64(seed))
        for _ in 0..<2_500 {
            let text = Mutation.of(genuine, using: &random)
            if text.firstMatch(of: /^[\w-]*/.asciiOnlyWordCharacters())?.output != genuine[...] {
                #expect(tokens.verifyClick(text, now: now) == .forged)
            }
        }
    }

    @Test(
        "A click token ends where a mail or ad system appended to its link",
        arguments: [
            "&utm_source=mail", "&cb=1&x=%", "?utm_source=mail", ";jsessionid=1", ".", ")", ",", ">", "\"", "'", "=", " ", "\u{200B}",
            "\u{200D}", "é", "/",
        ])
    func appended(text: String) throws {
        let tokens = try Fixture().tokens
        let genuine = tokens.click(cell: "ad:1", slot: 0, now: now)
        #expect(tokens.verifyClick(genuine + text, now: now) == tokens.verifyClick(genuine, now: now))
        #expect(tokens.verifyClick(genuine + "a" + text, now: now) == .forged && tokens.verifyClick(text + genuine, now: now) == .forged)
    }

    @Test("A failing command beside the clickthrough does not prevent the redirect")
    func failingNeighbour() async throws {
        var registry = CommandRegistry.standard
        try registry.register(FailingCommand(name: "fail"))
        var configuration = CellConfiguration()
        configuration.advertisementCommands[.selection] = ["fail", "clickthrough"]
        let fixture = try Fixture(advertisements: 1, configuration: configuration, registry: registry)
        let click = try await fixture.performer().click(token: token(fixture), for: client, now: now)
        #expect(click.location == "https://shop.example/0" && click.verdict == .counted)
        #expect(fixture.ledger.events.map(\.kind) == [.click])
    }

    @Test("An uncounted impression is recorded and runs no command", arguments: [Verdict.bot, .prefetch])
    func uncountedImpression(verdict: Verdict) async throws {
        var configuration = CellConfiguration()
        configuration.advertisementCommands[.impression] = ["analytics", "save"]
        let fixture = try Fixture(advertisements: 1, configuration: configuration)
        let token = fixture.tokens.impression(cell: "ad:0", slot: 0, now: now)
        let report = ActionPerformer.ImpressionReport(cell: "ad:0", token: token)
        let robot = ClientFingerprint(viewer: "ann", userAgent: "bot", verdict: verdict)
        #expect(try await fixture.performer().impressions([report], for: robot, now: now) == [verdict == .bot ? .bot : .prefetch])
        #expect(fixture.ledger.events.map(\.kind) == [.impression] && fixture.ledger.listed(.saved, "ann").isEmpty)
        let late = now + 26 * 3_600_000
        _ = try await fixture.performer().impressions([report], for: ClientFingerprint(viewer: "ann", userAgent: "test"), now: late)
        #expect(fixture.ledger.events.map(\.kind) == [.impression, .impression] && fixture.ledger.listed(.saved, "ann").isEmpty)
        _ = try await fixture.performer().impressions([report], for: ClientFingerprint(viewer: "ann", userAgent: "test"), now: now)
        #expect(fixture.ledger.listed(.saved, "ann") == ["ad:0"])
    }

    @Test("A link remains if a command beside it needs an absent viewer")
    func linkWithoutViewer() async throws {
        var configuration = CellConfiguration()
        configuration.advertisementCommands[.selection] = ["analytics", "save", "clickthrough"]
        let fixture = try Fixture(users: 1, advertisements: 1, configuration: configuration)
        let click = try await fixture.performer().click(token: token(fixture), for: client, now: now)
        #expect(click.location == "https://shop.example/0" && click.verdict == .counted)
        let user = try fixture.viewModel(of: try await fixture.page().entries.first { $0.adSlot == nil })
        #expect(user.action(in: .dismissal) == nil)
    }

    @Test("Yesterday's address hashes are checked while the window reaches beyond midnight")
    func midnight() {
        let day: Int64 = 86_400_000
        var event = LedgerEvent(at: 20_000 * day + 1_000, kind: .click, cell: "ad:1")
        let rules = CountingRules()
        func repeats(viewer: String? = nil) -> [String] {
            let identities = CountingRules.Identities(viewer: viewer, address: "today", yesterdaysAddresses: ["yesterday"], userAgent: "a")
            rules.apply(to: &event, identities: identities, token: nil)
            return event.deduplication?.checkedKeys ?? []
        }
        #expect(repeats().filter { $0.contains("yesterday") }.count == 2 && repeats().count == 4)
        #expect(repeats(viewer: "ann").filter { $0.contains("yesterday") }.count == 1)
        #expect(event.deduplication?.recordedKeys.contains { $0.contains("yesterday") } == false)
        event.at += rules.clickWindow
        #expect(repeats().count == 2)
    }

    @Test("A token of a cell without a destination is gone")
    func nowhere() async throws {
        let fixture = try Fixture(users: 1)
        let token = fixture.tokens.click(cell: "user:u0", slot: 0, now: now)
        await #expect(throws: ActionError.gone("user:u0")) { try await fixture.performer().click(token: token, for: client, now: now) }
        #expect(fixture.ledger.events.isEmpty)
    }

    @Test("A click's request verdict is recorded", arguments: [Verdict.bot, .prefetch])
    func verdicts(verdict: Verdict) async throws {
        let fixture = try Fixture(users: 2, advertisements: 1)
        var client = client
        client.verdict = verdict
        let click = try await fixture.performer().click(token: token(fixture), for: client, now: now)
        #expect(click.verdict == verdict && click.location == "https://shop.example/0")
        #expect(fixture.ledger.events.map(\.verdict) == [verdict])
    }

    @Test(
        "A click uncounted by its request or token is recorded and runs no command",
        arguments: [(.counted, 0, true), (.bot, 0, false), (.prefetch, 0, false), (.counted, 26, false)] as [(Verdict, Int64, Bool)])
    func nobodysChoice(verdict: Verdict, hours: Int64, isPerformed: Bool) async throws {
        var configuration = CellConfiguration()
        configuration.advertisementCommands[.selection] = ["clickthrough", "save"]
        let fixture = try Fixture(users: 2, advertisements: 1, configuration: configuration)
        var ann = client
        (ann.viewer, ann.verdict) = ("ann", verdict)
        let token = fixture.tokens.click(cell: "ad:0", slot: 0, now: now)
        let click = try await fixture.performer().click(token: token, for: ann, now: now + hours * 3_600_000)
        #expect(click.location == "https://shop.example/0")
        #expect(click.verdict == (hours > 0 ? .expired : verdict))
        #expect(fixture.ledger.listed(.saved, "ann") == (isPerformed ? ["ad:0"] : []))
        #expect(fixture.ledger.events.map(\.kind) == (isPerformed ? [.click, .save] : [.click]))
    }

    @Test(
        "Clicks are deduplicated by viewer, or by address and user agent if one is anonymous",
        arguments: [
            (ClientFingerprint(addressHash: "a", userAgent: "x"), ClientFingerprint(addressHash: "a", userAgent: "x"), true),
            (ClientFingerprint(addressHash: "a", userAgent: "x"), ClientFingerprint(addressHash: "b", userAgent: "x"), false),
            (ClientFingerprint(addressHash: "a", userAgent: "x"), ClientFingerprint(addressHash: "a", userAgent: "y"), false),
            (ClientFingerprint(viewer: "v", addressHash: "a", userAgent: "x"), ClientFingerprint(viewer: "v", addressHash: "b"), true),
            (ClientFingerprint(viewer: "v", addressHash: "a", userAgent: "x"), ClientFingerprint(addressHash: "a", userAgent: "x"), true),
            (ClientFingerprint(addressHash: "a", userAgent: "x"), ClientFingerprint(viewer: "v", addressHash: "a", userAgent: "x"), true),
            (ClientFingerprint(addressHash: "a", userAgent: "x"), ClientFingerprint(viewer: "v", addressHash: "a", userAgent: "y"), false),
            (
                ClientFingerprint(viewer: "v", addressHash: "a", userAgent: "x"),
                ClientFingerprint(viewer: "w", addressHash: "a", userAgent: "x"),
                false
            ),
            (ClientFingerprint(viewer: "v"), ClientFingerprint(viewer: "v", addressHash: "a"), true),
        ])
    func repetitions(first: ClientFingerprint, second: ClientFingerprint, isRepeated: Bool) async throws {
        let fixture = try Fixture(users: 2, advertisements: 1)
        for client in [first, second] { _ = try await fixture.performer().click(token: token(fixture), for: client, now: now) }
        let found = try fixture.ledger.events.map { try #require($0.deduplication) }
        #expect(found.count == 2 && Set(found[0].recordedKeys).isDisjoint(with: found[1].checkedKeys) != isRepeated)
    }

    @Test("An impression token counts once per viewer or anonymous address, and once per page")
    func tokens() async throws {
        let fixture = try Fixture(users: 60, advertisements: 1)
        func report(_ page: FeedPage) throws -> ActionPerformer.ImpressionReport {
            let entry = try #require(page.entries.first { $0.adSlot != nil })
            let text = String(decoding: entry.json, as: UTF8.self)
            let token = try #require(text.firstMatch(of: /"token":"([A-Za-z0-9_-]+)"/)?.output.1)
            return ActionPerformer.ImpressionReport(cell: entry.cell.id, token: String(token))
        }
        let first = try await fixture.page()
        let next = try #require(first.next.flatMap { URLComponents(string: $0)?.queryItems?.first { $0.name == "cursor" }?.value })
        let second = try await fixture.page(next)
        let (one, other) = (try report(first), try report(second))
        #expect(one.cell == other.cell && one.token != other.token)
        #expect(try report(try await fixture.page()).token == one.token)
        let clients = [
            (ClientFingerprint(addressHash: "a", userAgent: "x"), one), (ClientFingerprint(addressHash: "a", userAgent: "y"), one),
            (ClientFingerprint(addressHash: "b", userAgent: "x"), one), (ClientFingerprint(addressHash: "a", userAgent: "x"), other),
            (ClientFingerprint(viewer: "v", addressHash: "c"), one), (ClientFingerprint(viewer: "w", addressHash: "c"), one),
            // Clients with a viewer and clients without one do not affect each other's counts.
            (ClientFingerprint(addressHash: "c"), one), (ClientFingerprint(viewer: "x", addressHash: "a"), one),
            (ClientFingerprint(viewer: "v"), one),
            (ClientFingerprint(userAgent: "x"), one), (ClientFingerprint(userAgent: "y"), one),
        ]
        for (client, report) in clients { _ = try await fixture.performer().impressions([report], for: client, now: now) }
        var left: Set<String> = []
        let repeated = try fixture.ledger.events.map { event in
            let rules = try #require(event.deduplication)
            defer { left.formUnion(rules.recordedKeys) }
            return !left.isDisjoint(with: rules.checkedKeys)
        }
        #expect(repeated == [false, true, false, false, false, false, false, false, true, false, true])
    }

    @Test("A token of a future hour does not count but still redirects")
    func tomorrow() async throws {
        let fixture = try Fixture(users: 1, advertisements: 1)
        let token = fixture.tokens.click(cell: "ad:0", slot: 0, now: now + 6 * 3_600_000)
        let click = try await fixture.performer().click(token: token, for: client, now: now)
        #expect(click.verdict == .expired && click.location == "https://shop.example/0")
        #expect(try await fixture.performer().click(token: token, for: client, now: now + 6 * 3_600_000).verdict == .counted)
    }

    @Test("Rates are counted per viewer and per address, independent of the user agent")
    func rates() async throws {
        let fixture = try Fixture(users: 2, advertisements: 1)
        for client in [
            ClientFingerprint(viewer: "v", addressHash: "a", userAgent: "x"),
            ClientFingerprint(viewer: "w", addressHash: "a", userAgent: "y"),
            ClientFingerprint(addressHash: "a", userAgent: "z"), ClientFingerprint(),
        ] { _ = try await fixture.performer().click(token: token(fixture), for: client, now: now) }
        let rates = fixture.ledger.events.map { Set($0.rates.map(\.key)) }
        #expect(rates.map(\.count) == [2, 2, 1, 0])
        #expect(rates[0].intersection(rates[1]) == rates[2])
    }

    @Test("Clicks also have rates of their networks and of their campaign; a token of an ad counts one selection")
    func clickRates() {
        var client = ClientFingerprint(addressHash: "a", userAgent: "x")
        client.counting.clickLimit = 30
        client.networkHashes = ["n56", "n48"]
        client.impressionContext = ImpressionContext(campaign: "spring", feed: "main")
        client.token = "t"
        let creative = CreativeInfo(form: "image")
        let click = client.event(.click, cell: "ad:1", of: creative, at: now)
        #expect(click.rates.map(\.limit) == [1, 30, 60, 120, 1_200] && click.rates.map(\.verdict).firstIndex(of: .duplicate) == 0)
        #expect(client.event(.impression, cell: "ad:1", of: creative, at: now).rates.count == 1)
        let selections = [client, client].map { $0.event(.selection, cell: "ad:1", of: creative, at: now) }
        #expect(selections[0].deduplication?.recordedKeys == selections[1].deduplication?.checkedKeys && selections[0].rates.isEmpty)
        #expect(selections[0].deduplication != nil && client.event(.selection, cell: "user:1", at: now).deduplication == nil)
    }

    @Test("The slot in a token of the build before is read, without its reservation and end")
    func formerToken() throws {
        var writer = ByteWriter(capacity: 64)
        writer.write(1 | 16 | 32 as UInt8)
        writer.write(3 as UInt16)
        writer.write(86_400 as UInt32)
        writer.write(counted: "spring".utf8)
        for _ in 0..<3 { writer.write(7 as UInt16) }
        writer.write(now)
        var reader = ByteReader(writer.bytes)
        #expect(ImpressionContext(&reader) == ImpressionContext(campaign: "spring", feed: "main", position: 3, frequencyCapTTL: 86_400))
        #expect(reader.readByte() == nil)
    }

    @Test("Impressions with a repeated idempotency key get the same verdicts and run no command")
    func repeatedImpressions() async throws {
        let fixture = try Fixture(users: 2, advertisements: 1)
        let key = IdempotencyKey(scope: "ann", key: "k", fingerprint: "f", expires: .max)
        let reports = [
            ActionPerformer.ImpressionReport(cell: "ad:0", token: fixture.tokens.impression(cell: "ad:0", slot: 0, now: now)),
            .init(cell: "ad:0", token: "forged"),
        ]
        let performer = fixture.performer()
        for _ in 0..<2 {
            #expect(try await performer.impressions(reports, for: client, now: now, idempotency: key) == [.counted, .unknown])
        }
        #expect(fixture.ledger.events.count == 1)
        var other = key
        other.fingerprint = "g"
        await #expect(throws: ActionError.keyReused) { try await performer.impressions([], for: client, now: now, idempotency: other) }
        // A request without recorded events does not use its key.
        (other.key, other.fingerprint) = ("l", "h")
        #expect(try await performer.impressions([reports[1]], for: client, now: now, idempotency: other) == [.unknown])
        other.fingerprint = "i"
        #expect(try await performer.impressions([reports[0]], for: client, now: now, idempotency: other) == [.counted])
        // Many equal verdicts are stored in few bytes.
        other.key = "m"
        let many = [reports[0]] + Array(repeating: reports[1], count: 499)
        for _ in 0..<2 {
            let verdicts = try await performer.impressions(many, for: client, now: now, idempotency: other)
            #expect(verdicts == [.counted] + Array(repeating: .unknown, count: 499))
        }
        #expect(fixture.ledger.answers.allSatisfy { $0.count < 30 })
    }

    @Test("Impressions get one verdict each, in order, in one commit")
    func impressions() async throws {
        let fixture = try Fixture(users: 2, advertisements: 2)
        func token(_ cell: String, age hours: Int64 = 0) -> String {
            fixture.tokens.impression(cell: cell, slot: 0, now: now - hours * 3_600_000)
        }
        let reports = [
            ActionPerformer.ImpressionReport(cell: "ad:0", token: token("ad:0")),
            .init(cell: "ad:0", token: token("ad:1")),
            .init(cell: "ad:1", token: "forged"),
            .init(cell: "ad:9", token: token("ad:9")),
            .init(cell: "user:u0", token: token("user:u0")),
            .init(cell: "ad:1", token: token("ad:1", age: 26)),
            .init(cell: "ad:1", token: token("ad:1")),
        ]
        let verdicts = try await fixture.performer().impressions(reports, for: client, now: now)
        #expect(verdicts == [.counted, .unknown, .unknown, .unknown, .unknown, .expired, .counted])
        #expect(fixture.ledger.events.map(\.kind) == [.impression, .impression, .impression])
        #expect(fixture.ledger.commits == 1)
        #expect(Set(fixture.ledger.events.compactMap { $0.deduplication?.recordedKeys }).count == 2)
        #expect(try await fixture.performer().impressions([], for: client, now: now).isEmpty)
    }

    @Test("Tokens of the previous key are valid until rotation ends, for their purpose only")
    func tokens() throws {
        let old = try SigningKey(Array(repeating: 1, count: 32))
        let new = try SigningKey(Array(repeating: 2, count: 32))
        let token = CellTokens(keys: SigningKeys(current: old)).click(cell: "ad:ü:1", slot: 3, now: now)
        let expected = ImpressionToken(cell: "ad:ü:1", slot: 3, hour: CellTokens.bucket(of: now))
        let rotating = CellTokens(keys: SigningKeys(current: new, previous: old), lifetime: 1000)
        #expect(rotating.verifyClick(token, now: now) == .valid(expected))
        #expect(rotating.verifyClick(token, now: CellTokens.endOfBucket(of: now) + 999) == .valid(expected))
        #expect(rotating.verifyClick(token, now: CellTokens.endOfBucket(of: now) + 1000) == .expired(expected))
        #expect(rotating.verifyImpression(token, now: now) == .forged)
        #expect(CellTokens(keys: SigningKeys(current: new)).verifyClick(token, now: now) == .forged)
        #expect(rotating.click(cell: "ad:1", slot: 0, now: now) == rotating.click(cell: "ad:1", slot: 0, now: now + 60_000))
        #expect(rotating.click(cell: "ad:1", slot: 0, now: now) != rotating.click(cell: "ad:1", slot: 1, now: now))
        #expect(throws: SigningKeyError.wrongLength(31)) { try SigningKey(Array(repeating: 1, count: 31)) }
    }
}
