import Testing

@testable import IntertwineFeed

@Suite("Custom kinds, cells and commands")
struct OpenForExtensionTests {
    struct EventCellFactory: CellViewModelFactory {
        let identifier = "EventCollectionViewCell"
        let plan: CellCommands

        func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
            let title = String(decoding: item.body, as: UTF8.self)
            let subject = CommandSubject(
                cell: cell, item: item, presentation: Presentation(type: "modal", screen: "SignUp", arguments: []), context: context)
            let configuration = BindCommand([
                CellBinding("title", .text(title)), CellBinding("starts", .date("2026-01-01")),
            ])
            return CellViewModel(
                identifier: identifier, size: CellSize(width: 320, height: 99.5), commands: plan.filled(by: configuration),
                subject: subject)
        }
    }

    func fixture(_ effects: Effects) throws -> Fixture {
        var fixture = try Fixture(users: 1)
        try fixture.registry.register(RemoteCommand(name: "sign-up", effects: effects))
        let plan = try CellCommands(
            kind: "event", slots: [.selection: ["analytics", "sign-up", "present"]], registry: fixture.registry, offers: .presentation)
        try fixture.factories.register(EventCellFactory(plan: plan), for: ItemType(kind: "event", variant: "party"), prefix: "event")
        fixture.store.put(FeedItem(kind: "event", id: "1", variant: "party", position: 1, body: Array("New Year".utf8)))
        return fixture
    }

    @Test("A custom kind of cell requires one factory and one registration")
    func kind() async throws {
        let page = try await fixture(Effects()).page()
        #expect(page.ids == ["event:1", "user:u0"])
        #expect(
            String(decoding: page.json(), as: UTF8.self).hasPrefix(
                #"{"cells":[{"id":"event:1","identifier":"EventCollectionViewCell","size":{"width":320,"height":99.5},"actions":{"#
                    + #""configuration":{"type":"bind","bindings":{"title":{"type":"text","text":"New Year"},"starts":{"type":"date","date":"2026-01-01"}}},"#
                    + #""selection":{"type":"request","method":"POST","href":"/cells/event:1/selection"}}}"#))
    }

    @Test("A command with external effects is performed and undone")
    func command() async throws {
        let effects = Effects()
        let fixture = try fixture(effects)
        let client = ClientFingerprint(viewer: "ann")
        let outcome = try await fixture.performer().perform(
            .selection, of: "event:1", for: client, now: Fixture.now, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw TestFailure() }
        #expect(performance.presentation?.screen == "SignUp" && performance.isComplete)
        fixture.store.delete(kind: "event", id: "1")
        _ = try await fixture.performer().undo(invocation: #require(performance.invocation), for: client, now: Fixture.now)
        #expect(effects.all == ["+sign-up", "-receipt of sign-up"])
    }

    @Test("Advertisements of several variants rotate in one order in both directions")
    func forms() async throws {
        var fixture = try Fixture(users: 9, placement: MidpointPlacement(advertisements: 2))
        let plan = try CellCommands(kind: "ad", slots: [:], registry: .standard, offers: [])
        for variant in ["video", "audio"] {
            try fixture.factories.register(
                AdvertisementCellFactory(plan: plan), for: ItemType(kind: "ad", variant: variant), prefix: "ad",
                stream: .advertisements)
        }
        for (index, variant) in ["video", "image", "image", "audio", "video"].enumerated() {
            fixture.store.put(Fixture.advertisement("\(index)", at: Int64(index), variant: variant), in: .advertisements)
        }
        let pages = try await fixture.walk(limit: 2)
        #expect(pages.map(\.adIDs) == [["ad:0", "ad:1"], ["ad:2", "ad:3"], ["ad:4", "ad:0"], ["ad:1", "ad:2"], ["ad:3", "ad:4"]])
        var page = try #require(pages.last)
        for mirrored in pages.dropLast().reversed() {
            page = try await fixture.page(page.previous.flatMap(Fixture.cursor), limit: 2)
            #expect(page.json() == mirrored.json())
        }
    }

    struct EveryThird: AdPlacement {
        let supply = FillPolicy.rotating(perPage: 3)

        func indices(for advertisements: Int, in stretch: ContentRange) -> [Int] {
            Array(stride(from: 3, through: stretch.count, by: 3).prefix(advertisements))
        }
    }

    @Test("A custom placement needs only its indices, and surplus advertisements wait for the next page")
    func placement() async throws {
        let fixture = try Fixture(users: 7, advertisements: 4, placement: EveryThird())
        #expect(
            try await fixture.page().ids
                == ["user:u0", "user:u1", "user:u2", "ad:0", "user:u3", "user:u4", "user:u5", "ad:1", "user:u6"])
        let pages = try await fixture.walk(limit: 4)
        #expect(pages.map(\.adIDs) == [["ad:0"], ["ad:1"]])
        let back = try await fixture.page(pages.last?.previous.flatMap(Fixture.cursor), limit: 4)
        #expect(back.json() == pages.first?.json())
    }
}
