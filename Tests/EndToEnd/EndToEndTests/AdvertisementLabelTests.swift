import Foundation
import TestSupport
import Testing

@Suite("Labels of ads in every output", .timeLimit(.untilStuck))
struct AdvertisementLabelTests {
    private static let kinds = """
        languages: [en, de]
        kinds:
          offer:
            lane: advertisements
            fields: {name: {type: text, required: true}, advertiser: text}
            cells:
              collection:
                - {identifier: OfferCell, size: 300x160, bind: {name: {text: name}, disclosure: {text: name}}}
                - {identifier: OfferPhotos, companion: photos, size: 300x50, bind: {name: {text: name}}}
              table:
                - {identifier: OfferRow, size: 300x40, bind: {name: {text: name}}}
                - {identifier: OfferPhotosRow, companion: photos, size: 300x50, bind: {name: {text: name}}}
            actions: {impression: [analytics], like: {list: liked}}
          silent:
            lane: advertisements
            fields: {name: {type: text, required: true}}
            cells:
              collection: {identifier: SilentCell, size: 300x160, bind: {}}
              table: {identifier: SilentRow, size: 300x40, bind: {}}

        """

    private static let items =
        Items.users(20) + Items.advertisement(1) + Items.advertisement(2, "video") + Items.advertisement(3, "audio")
        + Items.advertisement(4, house: false) + Items.advertisement(5, house: false)
        + #"{"kind":"offer","id":"o","name":"Bread","advertiser":"Baker"}"# + "\n" + #"{"kind":"silent","id":"s","name":"Quiet"}"# + "\n"
        + #"{"kind":"campaign","id":"plain","advertiser":"ACME","creatives":[4]}"# + "\n"
        + #"{"kind":"campaign","id":"named","advertiser":"ACME","creatives":[5],"#
        + #""disclosure":{"label":{"en":"Sponsored","de":"Gesponsert"},"advertiser":"Acme Ltd"}}"# + "\n"

    /// The label and the advertiser that each ad has, by its cell.
    private static func expected(_ isGerman: Bool) -> [String: [String]] {
        let label = isGerman ? "Anzeige" : "Advertisement"
        return [
            "ad:1": [label, ""], "ad:2": [label, ""], "ad:3": [label, ""], "ad:4": [label, "ACME"],
            "ad:5": [isGerman ? "Gesponsert" : "Sponsored", "Acme Ltd"], "offer:o": [label, "Baker"], "offer:o#photos": [label, "Baker"],
            "silent:s": [label, ""],
        ]
    }

    /// All cells in an answer, at any depth.
    private static func cells(in json: JSON) -> [JSON] {
        if json["identifier"] != nil, json["actions"] != nil { return [json] }
        return json.list.flatMap(cells) + json.keys.flatMap { key in json[key].map(cells) ?? [] }
    }

    /// Checks each cell of an answer, and returns the ads.
    private static func check(_ json: JSON, isGerman: Bool, _ place: String) -> Set<String> {
        var found: Set<String> = []
        for cell in cells(in: json) {
            let id = cell["id"]?.text ?? ""
            let disclosure = cell["actions"]?["configuration"]?["bindings"]?["disclosure"]
            guard !id.hasPrefix("user:") else {
                #expect(cell["advertisement"] == nil && disclosure == nil, "\(place): \(id)")
                continue
            }
            let told = ["label", "advertiser"].compactMap { disclosure?[$0]?.text }
            #expect(cell["advertisement"]?.value as? Bool == true && disclosure?["type"]?.text == "disclosure", "\(place): \(id)")
            // An ad that a page shows again has another id.
            let item = expected(isGerman)[id] == nil ? cell["primary"]?.text ?? "" : id
            #expect(told == expected(isGerman)[item], "\(place): \(id)")
            found.insert(item)
        }
        return found
    }

    @Test("Each ad of each kind says so in pages, rows, single cells, lists, changes and live events, in the language of the request")
    func outputs() async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-kinds-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Self.kinds.write(toFile: "\(folder)/kinds.yaml", atomically: true, encoding: .utf8)
            let kinds = "kinds.file=\(folder)/kinds.yaml"
            // Each ad is on the page.
            let service = try RunningService(
                settings: [kinds, "ads.placement=every 2 offset 1", "ads.min-distance=40", RunningService.tokenSetting])
            _ = try service.importItems(Self.items, arguments: ["--set", kinds])
            for isGerman in [false, true] {
                let viewer = ["User-Agent: tests", "X-Viewer-ID: ann", "Accept-Language: \(isGerman ? "de-AT" : "en")"]
                func ask(_ path: String, _ more: String...) throws -> JSON { try JSON(try service.get(path, fields: viewer + more).text) }
                let all = Set(Self.expected(isGerman).keys)
                for layout in ["collection", "table"] {
                    #expect(Self.check(try ask("/feed?limit=40&layout=\(layout)"), isGerman: isGerman, layout) == all)
                    for id in all {
                        let path = "/cells/\(id.replacing("#", with: "%23"))?layout=\(layout)"
                        #expect(Self.check(try ask(path), isGerman: isGerman, path) == [id])
                    }
                }
                #expect(Self.check(try ask("/feed?limit=40", "Accept-Cells: *, disclosure;q=0"), isGerman: isGerman, "refused").isEmpty)
                let refused = try service.get("/cells/offer:o", fields: viewer + ["Accept-Cells: *, disclosure;q=0"])
                #expect(refused.status == 404 && refused.text.contains("unshown-cell"), "\(refused.text)")
                #expect(try service.ask("POST", "/cells/offer:o/like", fields: viewer).status == 200)
                #expect(Self.check(try ask("/lists/liked"), isGerman: isGerman, "list") == ["offer:o"])
                let page = try ask("/feed?limit=40&changes=true")
                let token = try #require(page["page"]?["syncToken"]?.text)
                let stream = try LiveTests.Listener(service, "/feed/changes?syncToken=\(token)", fields: viewer)
                var received = try stream.text(until: "retry: ")
                let changed = #"{"name":"\#(isGerman ? "Brot" : "Loaf")","advertiser":"Baker"}"#
                #expect(try service.admin("PUT", "/admin/items/offer/o", with: ["If-Match: *"], body: changed).status == 200)
                try poll {
                    received += try stream.text(until: "offer:o#photos")
                    return received.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("data: {") && $0.hasSuffix("}") }
                }
                let data = try #require(received.split(whereSeparator: \.isNewline).first { $0.hasPrefix("data: {") })
                let event = try JSON(String(data.dropFirst(6)))
                #expect(Self.check(event, isGerman: isGerman, "event").isSuperset(of: ["offer:o", "offer:o#photos"]))
                let changes = try ask("/feed/changes?syncToken=\(token)")
                #expect(Self.check(changes, isGerman: isGerman, "changes").isSuperset(of: ["offer:o", "offer:o#photos"]))
            }
        }
    }
}
