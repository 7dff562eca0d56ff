import Testing

@testable import IntertwineFeed

@Suite("Users as a declared kind")
struct DeclaredUserTests {
    static let users = [
        #"{"id":"tt","username":"Tongue Twister","avatarUrl":"https://i.example/1.png","backgroundUrl":"https://i.example/b.png","type":"featured"}"#,
        #"{"id":"gl","username":"Gl\"a\\ss","avatarUrl":"https://i.example/2.png","backgroundUrl":"https://i.example/b.png","type":"regular"}"#,
        #"{"username":"Ümläut 🎈 {{title}} <b>&amp;","avatarUrl":"https://i.example/3.png","backgroundUrl":null,"type":"regular"}"#,
        #"{"id":7,"username":"seven","avatarUrl":"http://i.example/4.png","type":"regular","extra":[1,{"a":2}]}"#,
    ]

    @Test("Declared cells and user cells differ only in ids", arguments: CellLayout.allCases, [nil, 1, 100, 320, 375, 1024, 10_000])
    func identical(layout: CellLayout, width: Int?) async throws {
        let links = Links(base: "https://feed.example", image: { source, _, now in Links.ImageLink("/images/\(now)/\(source.utf8.count)") })
        var fixture = try Fixture(users: 0, links: links)
        let person = try DeclaredKind(KindFixture.person)
        try fixture.factories.register(person, commands: fixture.registry)
        for (index, json) in Self.users.enumerated() {
            fixture.store.put(try KindFixture.item(UserKind(), at: Int64(index), json))
            fixture.store.put(try KindFixture.item(person, at: Int64(index) + 100, json))
        }
        for client in [PageClient(), .viewer()] {
            let page = try await fixture.assembler().page(
                FeedRequest(now: Fixture.now, layout: layout, width: width), for: client)
            #expect(page.omissions.isEmpty && page.entries.count == 8)
            let text = String(decoding: page.json(), as: UTF8.self)
            let start = try #require(text.firstRange(of: #"{"cells":["#)).upperBound
            let middle = try #require(text.firstRange(of: #",{"id":"person:"#)).lowerBound
            let end = try #require(text.firstRange(of: #"],"page":"#)).lowerBound
            let users = text[start..<middle]
            let persons = text[text.index(after: middle)..<end]
            #expect(persons.contains("/cells/person:tt/selection"))
            #expect(persons.replacing("person:", with: "user:") == users)
        }
    }

    @Test("Declared users are selected, undone and dismissed like standard users")
    func actions() async throws {
        let fixture = try KindFixture.fixture(KindFixture.person, items: Self.users)
        let client = ClientFingerprint(viewer: "ann")
        let outcome = try await fixture.performer().perform(
            .selection, of: "person:tt", for: client, now: Fixture.now, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw TestFailure() }
        #expect(performance.presentation == .imageZoom(username: "Tongue Twister", image: "https://i.example/1.png"))
        #expect(performance.steps.map(\.command) == ["analytics", "present"])
        _ = try await fixture.performer().undo(invocation: #require(performance.invocation), for: client, now: Fixture.now)
        _ = try await fixture.performer().perform(.dismissal, of: "person:gl", for: client, now: Fixture.now, response: { $0.json() })
        #expect(fixture.ledger.listed(.dismissed, "ann") == ["person:gl"])
    }

    @Test(
        "Declared users have the same validation errors as standard users",
        arguments: [
            #"{"id":"a","avatarUrl":"https://i.example/1.png","type":"regular"}"#,
            #"{"username":"","avatarUrl":"https://i.example/1.png","type":"regular"}"#,
            #"{"username":"a","avatarUrl":"ftp://i.example/1.png","type":"regular"}"#,
            #"{"username":"a","avatarUrl":"https://i.example/1.png","type":"other"}"#,
            #"{"username":"a","username":"b","avatarUrl":"https://i.example/1.png","type":"regular"}"#,
            #"{"username":3,"avatarUrl":"https://i.example/1.png","type":"regular"}"#, #"{"username":"a""#,
        ])
    func faults(json: String) throws {
        let person = try DeclaredKind(KindFixture.person)
        func fault(_ kind: some ItemKind) -> ItemError? {
            do {
                _ = try kind.validate(ItemFields(Array(json.utf8)))
                return nil
            } catch {
                return error
            }
        }
        #expect(fault(person) != nil)
        #expect(fault(person) == fault(UserKind()))
    }
}
