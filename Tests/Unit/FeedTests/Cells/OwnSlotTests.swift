import Foundation
import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Custom slots and their input")
struct OwnSlotTests {
    /// Records its input.
    final class Comments: Command {
        let name = "comment"
        let input = [FieldDeclaration("text", .text, isRequired: true, maximum: 10)]
        private let log = Mutex<[[String: JSONValue]]>([])

        var all: [[String: JSONValue]] { log.withLock { $0 } }

        func perform(in context: inout CommandContext) throws {
            let input = context.input
            log.withLock { $0.append(input) }
        }
    }

    let ann = ClientFingerprint(viewer: "ann", userAgent: "test")
    let comments = Comments()

    /// Adds the cell to the list that its input names.
    private struct File: UndoableCommand {
        let name = "file"
        let needs: CommandRequirements = .viewer
        let input = [FieldDeclaration("list", .text, isRequired: true, choices: ["later", "favourites"])]

        func perform(in context: inout CommandContext) throws {
            guard case .text(let list)? = context.input["list"] else { return }
            let record = try context.put(on: ViewerList(rawValue: list))
            context.recordUndo(Array(list.utf8) + [0] + record)
        }

        func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
            let parts = record.split(separator: 0, maxSplits: 1)
            try context.revert(Array(parts[1]), from: ViewerList(rawValue: String(decoding: parts[0], as: UTF8.self)))
        }
    }

    private func fixture() throws -> Fixture {
        var registry = CommandRegistry.standard
        try registry.register(comments)
        var configuration = CellConfiguration()
        configuration.userCommands[CommandKey("like")] = ["analytics", "save"]
        configuration.userCommands[CommandKey("comment")] = SlotCommands(
            ["analytics", "comment"],
            input: [
                FieldDeclaration("mood", .text, choices: ["good", "bad"]), FieldDeclaration("stars", .number, minimum: 1, maximum: 5),
                FieldDeclaration("public", .boolean),
            ])
        return try Fixture(users: 1, configuration: configuration, registry: registry)
    }

    @Test("A command adds a cell to its input's list, and undo removes it")
    func filed() async throws {
        var (registry, configuration) = (CommandRegistry.standard, CellConfiguration())
        try registry.register(File())
        configuration.userCommands[CommandKey("keep")] = ["analytics", "file"]
        let fixture = try Fixture(users: 1, configuration: configuration, registry: registry)
        func file(_ list: String) async throws -> String {
            let outcome = try await fixture.performer().perform(
                CommandKey("keep"), of: "user:u0", for: ann, now: Fixture.now, body: Array(#"{"list":"\#(list)"}"#.utf8),
                response: { $0.json() })
            guard case .performed(let performance) = outcome else { throw TestFailure() }
            return try #require(performance.invocation)
        }
        let (later, favourites) = (ViewerList(rawValue: "later"), ViewerList(rawValue: "favourites"))
        let first = try await file("later")
        _ = try await file("favourites")
        #expect(fixture.ledger.listed(later, "ann") == ["user:u0"] && fixture.ledger.listed(favourites, "ann") == ["user:u0"])
        _ = try await fixture.performer().undo(invocation: first, for: ann, now: Fixture.now)
        #expect(fixture.ledger.listed(later, "ann").isEmpty && fixture.ledger.listed(favourites, "ann") == ["user:u0"])
        #expect(fixture.ledger.events.first?.input?.choices == [EventInput.Choice("list", "later")])
    }

    @Test("Events record the input in declaration order within a size limit")
    func recorded() async throws {
        let fixture = try fixture()
        func comment(_ body: String) async throws {
            _ = try await fixture.performer().perform(
                CommandKey("comment"), of: "user:u0", for: ann, now: Fixture.now, body: Array(body.utf8), response: { $0.json() })
        }
        try await comment(#" {"public": true, "stars": 4.50, "text": "\u00e9\n", "mood": "good"} "#)
        let event = try #require(fixture.ledger.events.first)
        #expect(event.input?.json == #"{"mood":"good","stars":4.5,"public":true,"text":"é\n"}"#)
        #expect(event.input?.choices == [EventInput.Choice("mood", "good")])
        var (registry, configuration) = (CommandRegistry.standard, CellConfiguration())
        try registry.register(comments)
        let long = [FieldDeclaration("note", .text, maximum: 65_536)]
        configuration.userCommands[CommandKey("note")] = SlotCommands(["analytics"], input: long)
        let noted = try Fixture(users: 1, configuration: configuration, registry: registry)
        func note(_ length: Int) async throws {
            let body = #"{"note":"\#(String(repeating: "x", count: length))"}"#
            _ = try await noted.performer().perform(
                CommandKey("note"), of: "user:u0", for: ann, now: Fixture.now, body: Array(body.utf8), response: { $0.json() })
        }
        try await note(EventInput.limit - 11)
        await #expect(throws: ActionError.self) { try await note(EventInput.limit - 10) }
        #expect(noted.ledger.events.count == 1)
    }

    @Test("Custom slots follow standard slots in a cell and declare their input")
    func described() async throws {
        let fixture = try fixture()
        let page = try await fixture.assembler().page(FeedRequest(limit: 1, now: Fixture.now), for: .viewer())
        let json = String(decoding: page.json(), as: UTF8.self)
        let parts: [String] = [
            #""dismissal":{"type":"request","method":"POST","href":"/cells/user:u0/dismissal"},"#,
            #""comment":{"type":"request","method":"POST","href":"/cells/user:u0/comment","input":{"type":"object","properties":{"#,
            #""mood":{"anyOf":[{"enum":["good","bad"]},{"type":"null"}]},"#,
            #""stars":{"anyOf":[{"type":"number","minimum":1,"maximum":5},{"type":"null"}]},"#,
            #""public":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"#,
            #""text":{"type":"string","minLength":1,"maxLength":10}},"#,
            #""required":["text"],"additionalProperties":false}},"#,
            #""like":{"type":"request","method":"POST","href":"/cells/user:u0/like"}}"#,
        ]
        #expect(json.contains(parts.joined()), "\(json)")
    }

    @Test("Custom slots are recorded by name in the ledger and can be undone")
    func performed() async throws {
        let fixture = try fixture()
        let like = CommandKey("like")
        let outcome = try await fixture.performer().perform(like, of: "user:u0", for: ann, now: Fixture.now, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw TestFailure() }
        #expect(fixture.ledger.events.map(\.kind.rawValue) == ["like", "save"] && fixture.ledger.listed(.saved, "ann") == ["user:u0"])
        _ = try await fixture.performer().undo(invocation: #require(performance.invocation), for: ann, now: Fixture.now)
        #expect(fixture.ledger.listed(.saved, "ann").isEmpty)
        await #expect(throws: ActionError.nothingToDo(CommandKey("shout"), cell: "user:u0")) {
            try await fixture.performer().perform(CommandKey("shout"), of: "user:u0", for: ann, now: Fixture.now, response: { $0.json() })
        }
    }

    private func comment(_ body: String, simulated: Bool = false) async throws {
        let (performer, body) = (try fixture().performer(), Array(body.utf8))
        let slot = CommandKey("comment")
        if simulated {
            _ = try await performer.simulate(slot, of: "user:u0", for: ann, now: Fixture.now, body: body)
        } else {
            _ = try await performer.perform(slot, of: "user:u0", for: ann, now: Fixture.now, body: body, response: { $0.json() })
        }
    }

    @Test("Commands receive validated input")
    func given() async throws {
        try await comment(#"{"text":"Ah","mood":"good","stars":4.5,"public":true}"#)
        try await comment(#" {"stars": 3, "mood": null, "text": "\u00e9"} "#)
        #expect(
            comments.all == [
                ["text": .text("Ah"), "mood": .text("good"), "stars": .number(4.5), "public": .flag(true)],
                ["text": .text("é"), "stars": .integer(3)],
            ])
    }

    @Test(
        "Invalid input is refused with its field, and no command runs",
        arguments: [
            ("", "text"), ("{}", "text"), (#"{"text":null}"#, "text"), (#"{"text":3}"#, "text"), (#"{"text":""}"#, "text"),
            (#"{"text":"01234567890"}"#, "text"), (#"{"text":"a","mood":"sad"}"#, "mood"), (#"{"text":"a","stars":6}"#, "stars"),
            (#"{"text":"a","stars":"3"}"#, "stars"), (#"{"text":"a","public":1}"#, "public"), (#"{"text":"a","more":1}"#, "more"),
            (#"{"text":"a","text":"b"}"#, "text"), ("[]", nil), ("{", nil), ("x", nil),
        ] as [(String, String?)], [true, false])
    func refused(_ input: (String, String?), simulated: Bool) async throws {
        let error = await #expect(throws: ActionError.self) { try await comment(input.0, simulated: simulated) }
        guard case .invalidInput(let errors)? = error else { throw TestFailure() }
        #expect(errors.map(\.field) == [input.1], "\(errors)")
        #expect(comments.all.isEmpty)
    }

    @Test("All invalid values of a body are reported, at most 32")
    func allErrors() async throws {
        func fields(_ body: String) async throws -> [String?] {
            let error = await #expect(throws: ActionError.self) { try await comment(body) }
            guard case .invalidInput(let errors)? = error else { throw TestFailure() }
            return errors.map(\.field)
        }
        #expect(try await fields(#"{"more":1,"stars":6,"mood":"sad","public":1}"#) == ["mood", "stars", "public", "text", "more"])
        let many = (0..<1_000).map { #""m\#($0)":1"# }.joined(separator: ",")
        #expect(try await fields("{\(many)}") == ["text"] + (0..<31).map { "m\($0)" })
    }

    @Test("Invalid slot names and input declarations are refused at startup")
    func plans() throws {
        for name in ["", "2nd", "a b", "a/b", "é", "click", "save", "undo", String(repeating: "a", count: 65)] {
            #expect(throws: CellCommandsError.self, "\(name)") {
                try CellCommands(kind: "user", slots: [CommandKey(name): ["analytics"]], registry: .standard, offers: [])
            }
        }
        let field = FieldDeclaration("a", .text)
        let wrong: [(CommandKey, [FieldDeclaration])] = [
            (.impression, [field]), (.deselection, [field]), (.cancellation, [field]), (.selection, [field, field]),
            (.selection, [FieldDeclaration("a b", .text)]), (.selection, [FieldDeclaration("a", .number, choices: ["1"])]),
            (.selection, [FieldDeclaration("a", .text, choices: ["x", "x"])]),
            (.selection, [FieldDeclaration("a", .number, minimum: 2, maximum: 1)]),
            (.selection, (0..<33).map { FieldDeclaration("a\($0)", .text) }),
        ]
        for (slot, input) in wrong {
            #expect(throws: CellCommandsError.self, "\(slot.rawValue)") {
                try CellCommands(
                    kind: "user", slots: [slot: SlotCommands(["analytics"], input: input)], registry: .standard, offers: [])
            }
        }
    }
}

@Suite("Several cells for one item")
struct CompanionTests {
    static let place = KindDeclaration(
        name: "place", fields: [FieldDeclaration("title", .text, isRequired: true), FieldDeclaration("image", .image)],
        cells: [
            .collection: [
                CellDeclaration(
                    "PlaceCell", size: SizeRule(CellSize(width: 300, height: 200)), bindings: [BindingDeclaration("title", .text, "title")]),
                CellDeclaration(
                    "PlacePhotosCell", size: SizeRule(CellSize(width: 300, height: 90)),
                    conditions: [FieldCondition("image", .present(true))],
                    bindings: [BindingDeclaration("image", .image, "image")], companion: "photos"),
                CellDeclaration(
                    "PlaceNotesCell", size: SizeRule(CellSize(width: 300, height: 40)), bindings: [], companion: "notes"),
            ]
        ], actions: [.selection: ["analytics"], .dismissal: ["analytics", "dismiss"]])

    let ann = ClientFingerprint(viewer: "ann", userAgent: "test")

    private func fixture(_ ids: [String], advertisements: Int = 0) throws -> Fixture {
        var fixture = try Fixture(advertisements: advertisements)
        try fixture.factories.register(DeclaredKind(Self.place))
        for (index, id) in ids.enumerated() {
            let image = id.hasPrefix("bare") ? "" : #","image":"https://img.example/p.png""#
            fixture.store.put(
                FeedItem(
                    kind: "place", id: id, variant: "", position: Int64(index + 1),
                    body: Array(#"{"kind":"place","id":"\#(id)","title":"T"\#(image)}"#.utf8)))
        }
        return fixture
    }

    @Test("Companion cells are adjacent, have distinct ids, and count as one item")
    func pages() async throws {
        let fixture = try fixture(["a", "bare", "c"], advertisements: 1)
        let pages = try await fixture.walk(limit: 2)
        #expect(
            pages.map(\.ids) == [
                ["place:a", "place:a#photos", "place:a#notes", "ad:0", "place:bare", "place:bare#notes"],
                ["ad:0", "place:c", "place:c#photos", "place:c#notes"],
            ])
        #expect(pages[0].entries.map(\.cell.identifier).prefix(3) == ["PlaceCell", "PlacePhotosCell", "PlaceNotesCell"])
        #expect(String(decoding: pages[0].json(), as: UTF8.self).contains(#""href":"/cells/place:a%23photos/selection""#))
        // An item's own id may look like that of a companion or of a repetition.
        var others = try self.fixture(["a", "x#y"], advertisements: 1)
        others.store.put(Fixture.user("C", at: 8))
        others.store.put(Fixture.user("C#x", at: 9))
        others.store.put(Fixture.advertisement("0#2", at: 9_000), in: .advertisements)
        others.placement = EveryPlacement(every: 1)
        let cells = try KindFixture.json(try await others.page())
        let primaries = Dictionary(cells.map { ($0["id"] as? String ?? "", $0["primary"] as? String) }) { $1 ?? $0 }
        for (id, primary) in [
            ("place:a", nil), ("place:a#photos", "place:a"), ("place:x#y", nil), ("place:x#y#notes", "place:x#y"), ("user:C", nil),
            ("user:C#x", nil),
            ("ad:0", nil), ("ad:0#2", nil), ("ad:0#3", "ad:0"),
        ] as [(String, String?)] {
            #expect(primaries[id] == .some(primary), "\(id): \(primaries)")
        }
        // The cell alone names it, too.
        let item = FeedItem(kind: "place", id: "a", variant: "", position: 1, body: Array(#"{"kind":"place","id":"a","title":"T"}"#.utf8))
        let context = CellContext(links: others.links, tokens: others.tokens, now: Fixture.now)
        let companion = try others.factories.makeCompanions(for: item, in: context).first
        #expect(companion.map { String(decoding: $0.json(), as: UTF8.self).hasSuffix(#","primary":"place:a"}"#) } == true)
        let back = try await fixture.page(pages[1].previous.flatMap(Fixture.cursor), limit: 2)
        #expect(back.ids == pages[0].ids)
    }

    @Test("Every cell of an ad says so, companions too, by the stream of its kind and not by a name")
    func advertisements() async throws {
        for isAdvertisement in [true, false] {
            var fixture = try Fixture(users: 2)
            var declaration = Self.place
            if isAdvertisement { declaration.stream = .advertisements }
            try fixture.factories.register(DeclaredKind(declaration))
            fixture.store.put(
                FeedItem(kind: "place", id: "a", variant: "", position: 9, body: Array(#"{"kind":"place","id":"a","title":"T"}"#.utf8)),
                in: declaration.stream)
            let page = try await fixture.page()
            let cells = try KindFixture.json(page)
            let marked = cells.filter { $0["advertisement"] != nil }.compactMap { $0["id"] as? String }
            #expect(page.ids.contains("place:a#notes"))
            #expect(marked == (isAdvertisement ? ["place:a", "place:a#notes"] : []))
        }
    }

    @Test("Each companion cell is performed by its id, and a missing companion is unknown")
    func performed() async throws {
        let fixture = try fixture(["a", "bare"])
        for cell in ["place:a#photos", "place:bare#notes", "place:a"] {
            _ = try await fixture.performer().perform(.selection, of: cell, for: ann, now: Fixture.now, response: { $0.json() })
        }
        #expect(fixture.ledger.events.map(\.cell) == ["place:a#photos", "place:bare#notes", "place:a"])
        for cell in ["place:bare#photos", "place:a#", "place:a#nothing", "place:#photos", "user:u0#photos"] {
            await #expect(throws: ActionError.unknownCell(cell)) {
                try await fixture.performer().perform(.selection, of: cell, for: ann, now: Fixture.now, response: { $0.json() })
            }
        }
    }

    @Test("Dismissal of the first cell removes its companions, and a companion's dismissal removes itself")
    func dismissed() async throws {
        let fixture = try fixture(["a", "b"])
        let assembler = fixture.assembler()
        let page = try await assembler.page(FeedRequest(limit: 2, now: Fixture.now, followsChanges: true))
        func changes(_ cell: String) async throws -> [Int] {
            let client = PageClient.viewer(hiding: [ByteString(cell)])
            let token = try #require(page.syncToken)
            guard case .changed(let changed) = try await assembler.changes(since: [token], FeedRequest(now: Fixture.now), for: client)
            else {
                throw TestFailure()
            }
            return changed.changes.removed
        }
        #expect(page.entries.count == 6)
        #expect(try await changes("place:a") == [0, 1, 2])
        #expect(try await changes("place:a#photos") == [1])
        let outcome = try await fixture.performer().perform(
            .dismissal, of: "place:b#notes", for: ann, now: Fixture.now, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw TestFailure() }
        #expect(performance.undo != nil && fixture.ledger.listed(.dismissed, "ann") == ["place:b#notes"])
    }

    @Test("An item is omitted if its id ends like a companion's id of its kind")
    func ambiguous() async throws {
        let fixture = try fixture(["a#photos", "a", "x#y"])
        fixture.store.put(Fixture.user("u#photos", at: 9))
        let page = try await fixture.page()
        #expect(
            page.ids == [
                "place:a", "place:a#photos", "place:a#notes", "place:x#y", "place:x#y#photos", "place:x#y#notes", "user:u#photos",
            ])
        #expect(page.omissions.map(\.id) == ["a#photos"])
        _ = try await fixture.performer().perform(.selection, of: "place:x#y#notes", for: ann, now: Fixture.now, response: { $0.json() })
        _ = try await fixture.performer().perform(.selection, of: "user:u#photos", for: ann, now: Fixture.now, response: { $0.json() })
    }

    @Test("A companion needs a valid name and a first cell")
    func faults() {
        for (companion, cells) in [("a b", 0...2), ("photos", 1...2)] {
            var declaration = Self.place
            declaration.cells[.collection] = Array(Self.place.cells[.collection]?[cells] ?? [])
            declaration.cells[.collection]?[1].companion = companion
            #expect(throws: KindError.self) { try DeclaredKind(declaration) }
        }
    }
}
