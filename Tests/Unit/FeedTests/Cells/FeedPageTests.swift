import Foundation
import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwinePrimitives

@Suite("Pages as JSON")
struct FeedPageTests {
    func text(_ page: FeedPage) -> String { String(decoding: page.json(), as: UTF8.self) }

    @Test("The context of an event has the values of filters in force, up to 256 bytes")
    func filters() {
        func read(_ filters: [String: [String]]) -> [[String]]? {
            var context = ImpressionContext(campaign: "c", feed: "main", section: "s", position: 3)
            context.filters = ImpressionContext.filters(filters)
            var writer = ByteWriter()
            context.write(to: &writer)
            var reader = ByteReader(writer.bytes)
            let found = ImpressionContext(&reader)
            #expect(found == context && reader.remaining.isEmpty)
            return found?.filters.map { [$0.field, $0.value] }
        }
        #expect(read([:]) == [])
        #expect(read(["city": ["Köln", "a=b"], "art": ["x"]]) == [["?art", "x"], ["?city", "Köln"], ["?city", "a=b"]])
        #expect(read(["a": ["x", String(repeating: "é", count: 64)], "b": [String(repeating: "é", count: 64)]])?.count == 2)
    }

    @Test("A page with each kind of cell has the documented JSON")
    func golden() async throws {
        let fixture = try Fixture(advertisements: 1)
        fixture.store.put(Fixture.user("tt", at: 1, variant: "featured", name: "Tongue Twister"))
        fixture.store.put(Fixture.user("gl", at: 2, name: "Glasses", background: "https://img.example/bg.png"))
        let page = try await fixture.page()
        let seen = try #require(text(page).firstMatch(of: /"cell":"ad:0","token":"([^"]+)"/)).1
        guard case .valid(let token) = fixture.tokens.verifyImpression(String(seen), now: Fixture.now) else {
            throw ActionError.unknownCell("ad:0")
        }
        #expect(token.cell == "ad:0" && token.slot == 0 && token.page != 0)
        #expect(token.impressionContext == ImpressionContext(feed: "main", position: 1))
        let click = fixture.tokens.click(
            cell: "ad:0", slot: 0, page: token.page, impressionContext: token.impressionContext, now: Fixture.now)
        let cancellation = #""cancellation":{"type":"request","method":"DELETE","href":"/images/requests/{request}","templated":true}"#
        let expected =
            #"{"cells":[{"id":"user:tt","identifier":"CircularUserCollectionViewCell","size":{"width":300,"height":190,"textHeight":24},"actions":{"#
            + #""configuration":{"type":"bind","bindings":{"username":{"type":"text","text":"Tongue Twister"},"#
            + #""avatar":{"type":"image","href":"https://img.example/tt.png","width":120,"height":120,"alt":"Tongue Twister"}}},\#(cancellation),"#
            + #""selection":{"type":"request","method":"POST","href":"/cells/user:tt/selection"},"#
            + #""deselection":{"type":"request","method":"DELETE","href":"/cells/user:tt/selection"}}},"#
            + #"{"id":"ad:0","identifier":"AdvertisementCollectionViewCell","advertisement":true,"size":{"width":220,"height":220},"actions":{"#
            + #""configuration":{"type":"bind","bindings":{"content":{"type":"image","href":"https://ads.example/0.png","width":220,"height":220,"alt":"Advertisement"},"#
            + #""disclosure":{"type":"disclosure","label":"Advertisement","advertiser":""}}},\#(cancellation),"#
            + #""selection":{"type":"link","href":"/click/\#(click)"},"#
            + #""impression":{"type":"request","method":"POST","href":"/events","#
            + #""body":{"events":[{"type":"impression","cell":"ad:0","token":"\#(seen)"}]},"viewable":{"share":0.5,"seconds":1}}}},"#
            + #"{"id":"user:gl","identifier":"UserSnapshotCollectionViewCell","size":{"width":300,"height":200,"textHeight":24},"actions":{"#
            + #""configuration":{"type":"bind","bindings":{"username":{"type":"text","text":"Glasses"},"avatar":{"type":"image","href":"https://img.example/gl.png","#
            + #""width":50,"height":50,"alt":"Glasses"},"#
            + #""background":{"type":"image","href":"https://img.example/bg.png","width":300,"height":144,"alt":""}}},\#(cancellation),"#
            + #""selection":{"type":"request","method":"POST","href":"/cells/user:gl/selection"},"#
            + #""deselection":{"type":"request","method":"DELETE","href":"/cells/user:gl/selection"}}}],"#
            + #""page":{"protocol":1,"limit":20,"next":null,"previous":null}}"#
        #expect(text(page) == expected)
        #expect(page.link == nil)
    }

    @Test("Actions that need a viewer appear only for a viewer")
    func viewerActions() async throws {
        let fixture = try Fixture(users: 1)
        let nobody = try await fixture.page()
        let viewer = try await fixture.assembler().page(FeedRequest(now: Fixture.now), for: .viewer())
        #expect(try fixture.viewModel(of: nobody.entries[0]).action(in: .dismissal) == nil)
        let dismissal = #""dismissal":{"type":"request","method":"POST","href":"/cells/user:u0/dismissal"}"#
        #expect(String(decoding: viewer.json(), as: UTF8.self).contains(dismissal))
        #expect(!String(decoding: nobody.json(), as: UTF8.self).contains("dismissal"))
    }

    @Test("Configuration selects the cell of a user type, and an unconfigured type is omitted")
    func userCells() async throws {
        var configuration = CellConfiguration()
        configuration.userCells = [.regular: .circular]
        let fixture = try Fixture(users: 1, configuration: configuration)
        fixture.store.put(Fixture.user("f", at: 9000, variant: "featured"))
        let page = try await fixture.page()
        #expect(page.entries.map(\.cell.identifier) == ["CircularUserCollectionViewCell"])
        #expect(page.omissions.map(\.reason) == [.noFactory])
    }

    @Test(
        "Ids and names of any characters round-trip through JSON and hrefs",
        arguments: [
            "Tongue Twister", #"a"b\c/d"#, "tab\there\nline\u{1}\u{1F}\u{7F}", "ümlaut 🎈 漢字", "a:b:c", "100%/..?#&=+", "..", "\u{2028}",
            "🏳️‍🌈",
        ])
    func escaping(id: String) async throws {
        let fixture = try Fixture()
        let body = try JSONSerialization.data(withJSONObject: [
            "username": id, "avatarUrl": "https://img.example/a.png", "type": "regular",
        ])
        fixture.store.put(FeedItem(kind: "user", id: id, variant: "regular", position: 1, body: Array(body)))
        let page = try await fixture.page()
        #expect(page.omissions.isEmpty)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(page.json())) as? [String: Any])
        let cell = try #require((json["cells"] as? [[String: Any]])?.first)
        #expect(cell["id"] as? String == "user:" + id)
        let actions = try #require(cell["actions"] as? [String: [String: Any]])
        #expect(((actions["configuration"]?["bindings"] as? [String: [String: Any]])?["username"]?["text"]) as? String == id)
        let href = try #require(actions["selection"]?["href"] as? String)
        let segments = href.split(separator: "/", omittingEmptySubsequences: false)
        #expect(segments.count == 4 && segments[2].removingPercentEncoding == "user:" + id)
        #expect(href.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        let named = try #require(fixture.factories.item(ofCell: "user:" + id))
        #expect(named.kind == "user" && named.id == id)
        _ = try await fixture.performer().simulate(.selection, of: "user:" + id, for: ClientFingerprint(), now: Fixture.now)
    }

    @Test("JSON escapes exactly the required characters at any position in a text")
    func escapes() async throws {
        let marked = (Array(1...0x1F) + [0x22, 0x5C, 0x7F]).map { UnicodeScalar(UInt8($0)) }
        let names = (0..<20).flatMap { offset in
            ["", "é"].map { filler in
                String(repeating: "a", count: offset) + marked.map { String($0) + filler }.joined() + String(repeating: " !#[]", count: 4)
            }
        }
        let fixture = try Fixture()
        for (index, name) in names.enumerated() {
            let body = try JSONSerialization.data(withJSONObject: ["username": name, "avatarUrl": "https://a.b/c", "type": "regular"])
            fixture.store.put(FeedItem(kind: "user", id: "\(index)", variant: "regular", position: Int64(index + 1), body: Array(body)))
        }
        let page = try await fixture.page(limit: names.count)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(page.json())) as? [String: Any])
        let cells = try #require(json["cells"] as? [[String: Any]])
        let found = cells.map { cell in
            let actions = cell["actions"] as? [String: [String: Any]]
            return (actions?["configuration"]?["bindings"] as? [String: [String: Any]])?["username"]?["text"] as? String
        }
        #expect(found == names)
        let text = String(decoding: page.json(), as: UTF8.self)
        #expect(text.contains(#"\n"#) && text.contains(#"\u001f"#) && text.contains("\u{7F}") && !text.contains(#"\u007f"#))
    }

    @Test("Hrefs, including image links, are absolute below a public base URL")
    func base() async throws {
        let links = Links(
            base: "https://feed.example/",
            image: { source, _, now in Links.ImageLink("/images/sig-\(now)/\(source.utf8.count)", scales: [1, 2]) })
        let fixture = try Fixture(users: 3, advertisements: 1, links: links)
        let page = try await fixture.page(limit: 2)
        let user = try fixture.viewModel(of: page.entries[0])
        #expect(user.action(in: .selection) == .request(method: "POST", href: "https://feed.example/cells/user:u0/selection"))
        #expect(
            user.action(in: .configuration)
                == .bind([
                    CellBinding("username", .text("u0")),
                    CellBinding(
                        "avatar",
                        .image(
                            ImageBinding(
                                "https://feed.example/images/sig-\(Fixture.now)/26", box: .init(width: 50, height: 50), scales: [1, 2],
                                alternative: "u0"))),
                ]))
        #expect(page.next?.hasPrefix("https://feed.example/feed?cursor=") == true)
        let next = try await fixture.page(page.next.flatMap(Fixture.cursor), limit: 2)
        #expect(next.link == "<\(try #require(next.previous))>; rel=\"prev\"")
        #expect(page.link == "<\(try #require(page.next))>; rel=\"next\"")
    }
    @Test("A page mints only its own images, and a screen's image is minted when opened")
    func minted() async throws {
        let minted = Mutex<[String]>([])
        let links = Links(image: { source, shape, _ in
            minted.withLock { $0.append("\(shape?.part ?? "original") \(source)") }
            return Links.ImageLink(source)
        })
        let fixture = try Fixture(links: links)
        fixture.store.put(Fixture.user("gl", at: 1, background: "https://img.example/bg.png"))
        let page = try await fixture.page()
        #expect(minted.withLock { $0 } == ["avatar https://img.example/gl.png", "background https://img.example/bg.png"])
        _ = try await fixture.performer().perform(
            .selection, of: "user:gl", for: ClientFingerprint(viewer: "ann"), now: Fixture.now, response: { $0.json() })
        #expect(page.ids == ["user:gl"] && minted.withLock { $0.last } == "original https://img.example/gl.png")
    }
}
