import Foundation
import TestSupport
import Testing

@Suite("Filtered feeds from outside")
struct FilterTests {
    private static let kinds = """
        kinds:
          event:
            fields:
              title: {type: text, required: true}
              category: {type: text, choices: [music, art, food]}
              city: {type: text, max: 40}
              free: boolean
              price: number
              tags: tags
            cells:
              collection: {identifier: EventCell, size: {width: 300, height: 100}, bind: {title: {text: title}, likes: {number: counts.likes}}}
            actions: {like: {list: liked, count: likes}}
        sections:
          events: {kinds: [event], order: newest}
        feeds:
          main: {sections: [events, main], filters: [category, city, free, tags, price]}
        """

    private static func event(_ id: Int, _ category: String, _ city: String, more: String = "") -> String {
        #"{"kind":"event","id":\#(id),"title":"\#(id)","category":"\#(category)","city":"\#(city)"\#(more)}"# + "\n"
    }

    private static func shown(_ service: RunningService, _ path: String) throws -> [String] {
        try JSON(try service.get(path).text)["cells"]?.list.compactMap { $0["id"]?.text } ?? []
    }

    @Test("A filter has pages, cursors, changes and cached pages of its own, and /feeds lists its values", arguments: [false, true])
    func filters(isPostgreSQL: Bool) async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-filters-\(UUID())").path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try Self.kinds.write(toFile: "\(folder)/kinds.yaml", atomically: true, encoding: .utf8)
            let setting = "kinds.file=\(folder)/kinds.yaml"
            let service = try RunningService(
                items: Items.user("u"), settings: [RunningService.tokenSetting, setting],
                database: isPostgreSQL ? PostgresServer.shared().makeDatabase().uri : nil)
            let categories = ["music", "art", "food"]
            let items = (0..<12).map { Self.event($0, categories[$0 % 3], $0 < 6 ? "Berlin" : "Köln") }.joined()
            _ = try service.importItems(items, arguments: ["--set", setting])
            func events(_ ids: [Int]) -> [String] { ids.map { "event:\($0)" } }
            #expect(try Self.shown(service, "/feed?category=music") == events([9, 6, 3, 0]))
            #expect(try Self.shown(service, "/feed?category=music") == events([9, 6, 3, 0]), "from the cache")
            #expect(try Self.shown(service, "/feed?city=K%C3%B6ln&category=music&category=art") == events([10, 9, 7, 6]))
            #expect(try Self.shown(service, "/feed?city=Rom") == [])
            // Canonically equivalent values are different ones, also in the cache.
            #expect(try Self.shown(service, "/feed?city=Ko%CC%88ln&limit=2") == [])
            #expect(try Self.shown(service, "/feed?city=K%C3%B6ln&limit=2") == events([11, 10]))
            // A filtered page has the counts that the feed has.
            func likes(_ path: String) throws -> Int? {
                try JSON(try service.get(path).text)["cells"]?.list.first { $0["id"]?.text == "event:9" }?["actions"]?["configuration"]?[
                    "bindings"]?["likes"]?["number"]?.number
            }
            #expect(try service.ask("POST", "/cells/event:9/like", fields: ["User-Agent: tests", "X-Viewer-ID: ann"]).status == 200)
            for _ in 0..<200 where try likes("/feed") != 1 { Thread.sleep(forTimeInterval: 0.05) }
            #expect(try likes("/feed") == 1 && likes("/feed?category=music") == 1)
            // Pages continue with the filter, and their cursors belong to it.
            var path: String? = "/feed?limit=3&category=art&category=music&city=Berlin"
            var walked: [String] = []
            while let asked = path {
                let page = try JSON(try service.get(asked).text)
                walked += page["cells"]?.list.compactMap { $0["id"]?.text } ?? []
                path = page["page"]?["next"]?.text
                guard let next = path else { break }
                #expect(next.hasSuffix("&category=art&category=music&city=Berlin"), "\(next)")
                #expect(try service.get(next.replacing("&city=Berlin", with: "")).status == 400)
            }
            #expect(walked == events([4, 3, 1, 0]))
            for (query, texts) in [
                ("colour=red", ["category", "city", "free", "tags"]), ("categry=music", ["category", "city", "free", "tags"]),
                ("category=sport", ["music", "art", "food"]),
                ("free=maybe", ["true", "false"]),
            ] {
                let refused = try service.get("/feed?\(query)")
                #expect(refused.status == 400 && texts.allSatisfy { refused.text.contains($0) }, "\(refused.text)")
            }
            // What other programs add to links costs no page, changes no page, and needs no memory.
            let plain = try service.get("/feed?category=music")
            func cached() throws -> Substring? {
                let lines = try service.admin("GET", "/metrics").text.split(separator: "\n")
                return lines.first { $0.hasPrefix("intertwine_feed_page_cache_entries ") }
            }
            let entries = try cached()
            for added in [
                "utm_source=news", "utm_content=%FF", "fbclid=a", "FBCLID=a", "gclid", "gbraid=1", "msclkid=a", "ScCid=a", "_=123", "_ga=1",
                "mc_eid=a",
                "ref=home", "t=1", "v=2", "", "=x",
            ] {
                let page = try service.get("/feed?\(added)&category=music")
                #expect(page.status == 200 && page.body == plain.body, "\(added): \(page.text)")
            }
            #expect(try cached() == entries && entries != nil)
            #expect(Set(try (0..<20).map { _ in try service.get("/feeds")["etag"] }).count == 1)
            let listed = try JSON(try service.get("/feeds").text)["feeds"]?[0]?["filters"]
            #expect(listed?.list.compactMap { $0["name"]?.text } == ["category", "city", "free", "tags", "price"])
            #expect(listed?.list.compactMap { $0["type"]?.text } == ["choice", "text", "flag", "tags", "number"])
            #expect(listed?[0]?["values"]?.list.compactMap { $0["value"]?.text } == categories)
            #expect(listed?[0]?["values"]?.list.compactMap { $0["count"]?.number } == [4, 4, 4])
            #expect(Set(listed?[1]?["values"]?.list.compactMap { $0["value"]?.text } ?? []) == ["Berlin", "Köln"])
            try Self.tags(service, setting)
            // A token of changes has the filter of its page, and a draft leaves the list and the counts.
            let token = try #require(try JSON(try service.get("/feed?changes=true&category=music").text)["page"]?["syncToken"]?.text)
            _ = try service.importItems(
                Self.event(12, "music", "Bonn") + Self.event(13, "art", "Bonn") + Self.event(6, "food", "Köln")
                    + Self.event(0, "music", "Berlin", more: #","draft":true"#), arguments: ["--set", setting])
            try poll { try Self.shown(service, "/feed?category=music") == events([12, 9, 3]) }
            let changes = try JSON(try service.get("/feed/changes?syncToken=\(token)").text)
            #expect(changes["inserted"]?.list.compactMap { $0["cell"]?["id"]?.text } == events([12]), "\(changes)")
            #expect(changes["removed"]?.list.compactMap { $0["id"]?.text } == events([6, 0]))
            let later = try JSON(try service.get("/feeds").text)["feeds"]?[0]?["filters"]?[0]?["values"]
            #expect(later?.list.compactMap { $0["count"]?.number } == [3, 5, 5])
            try Self.context(service, setting)
        }
    }

    /// Items with tags, which change, are hidden and are deleted; none remains.
    private static func tags(_ service: RunningService, _ setting: String) throws {
        func put(_ id: Int, _ tags: String) throws -> [String] {
            try service.importItems(event(id, "food", "Rom", more: #","tags":\#(tags)"#), arguments: ["--set", setting])
        }
        _ = try put(20, #"["jazz","jazz","open air"]"#)
        _ = try put(21, #"["open air"]"#)
        _ = try put(22, "[]")
        try poll { try shown(service, "/feed?tags=jazz&tags=open%20air") == ["event:21", "event:20"] }
        #expect(try shown(service, "/feed?tags=jazz&city=Rom&category=food") == ["event:20"])
        #expect(try shown(service, "/feed?tags=jazz&city=Bonn") == [] && shown(service, "/feed?tags=Jazz") == [])
        #expect(try shown(service, "/feed?tags=jazz&tags=open%20air&limit=1") == ["event:21"])
        let listed = try JSON(try service.get("/feeds").text)["feeds"]?[0]?["filters"]?[3]?["values"]
        #expect(listed?.list.compactMap { $0["value"]?.text } == ["open air", "jazz"])
        #expect(listed?.list.compactMap { $0["count"]?.number } == [2, 1])
        _ = try put(21, #"["jazz"]"#)
        try poll { try shown(service, "/feed?tags=jazz") == ["event:21", "event:20"] }
        #expect(try shown(service, "/feed?tags=open%20air") == ["event:20"])
        let removals = (20...22).map { #"{"remove":"event:\#($0)"}"# }.joined(separator: ",")
        let removed = try service.admin("POST", "/admin/operations", body: #"{"operations":[\#(removals)]}"#)
        #expect(removed.status == 200, "\(removed.text)")
        #expect(try shown(service, "/feed?tags=jazz") == [])
        for wrong in [#""jazz""#, "[1]", #"[""]"#] { #expect(throws: (any Error).self) { try put(23, wrong) } }
    }

    /// An explanation is of the page that its filters give, also behind its cursor.
    private static func explanations(_ service: RunningService) throws {
        for filters in ["category=music", "category=art&city=Bonn", "price=1.00&price=3", ""] {
            var query = "limit=1&\(filters)"
            for _ in 0..<2 {
                let page = try JSON(try service.get("/feed?\(query)").text)
                let told = try service.admin("GET", "/admin/explain?\(query)")
                let cells = try JSON(told.text)["cells"]?.list.compactMap { $0["cell"]?.text } ?? []
                #expect(cells == page["cells"]?.list.compactMap { $0["id"]?.text }, "\(query): \(told.text)")
                guard let next = page["page"]?["next"]?.text else { break }
                query = String(next.drop { $0 != "?" }.dropFirst())
            }
        }
        let query = "category=music&attributes=a&languages=de&cell=ad:1&section=events"
        let told = try JSON(try service.admin("GET", "/admin/explain?\(query)").text)
        #expect(told["cells"]?.list.contains { $0["cell"]?.text == "ad:1" && $0["campaign"]?.text == "c1" } == true, "\(told)")
        #expect(try service.admin("GET", "/admin/explain?category=nothing").status == 400)
        let plain = try JSON(try service.admin("GET", "/admin/explain").text)["advertisements"]?.list.first { $0["id"]?.text == "1" }
        #expect(plain?["reason"]?.text == "the campaign c1: targeting: the viewer's attributes, or the filters of the page, do not fit")
    }

    /// Campaigns for values of filters.
    private static func context(_ service: RunningService, _ setting: String) throws {
        func campaign(_ id: Int, _ context: String) -> String {
            Items.advertisement(id, house: false)
                + #"{"kind":"campaign","id":"c\#(id)","advertiser":"a","creatives":[\#(id)],"targeting":{"context":\#(context)}}"# + "\n"
        }
        let all = campaign(1, #"{"all":["category=music"]}"#) + campaign(2, #"{"all":["category=art"],"none":["city=Berlin"]}"#)
        _ = try service.importItems(all, arguments: ["--set", setting])
        func ads(_ query: String) throws -> [String] { try shown(service, "/feed\(query)").filter { $0.hasPrefix("ad:") } }
        try poll { try ads("?category=music") == ["ad:1"] }
        #expect(try ads("?category=art&city=Bonn") == ["ad:2"])
        // Events are reported by the values in force.
        let page = try JSON(try service.get("/feed?category=art&city=Bonn").text)
        let event = try #require(page["cells"]?.list.lazy.compactMap { $0["actions"]?["impression"]?["body"]?["events"]?[0] }.first)
        Thread.sleep(forTimeInterval: 1.1)
        let body = #"{"events":[{"type":"impression","cell":"ad:2","token":"\#(event["token"]?.text ?? "")"}]}"#
        let results = try JSON(try service.ask("POST", "/events", fields: ["User-Agent: tests"], body: body).text)["results"]
        #expect(results?[0]?["verdict"]?.text == "counted", "\(String(describing: results))")
        let rows = try JSON(try service.admin("GET", "/admin/reports?by=context").text)["rows"]?.list ?? []
        #expect(rows.map { $0["context"]?.text } == ["category=art", "city=Bonn"])
        #expect(rows.allSatisfy { $0["impressions"]?.number == 1 })
        #expect(try ads("") == [] && ads("?category=art&city=Berlin") == [] && ads("?category=food") == [])
        _ = try service.importItems(
            campaign(3, #"{"any":["category=food","city=Rom"],"none":["city=Bonn"]}"#), arguments: ["--set", setting])
        try poll { try ads("?category=food") == ["ad:3"] }
        #expect(try ads("?city=Rom") == ["ad:3"] && ads("?category=food&city=Bonn") == [] && ads("?category=music") == ["ad:1"])
        // A number is equal in every spelling.
        let prices = [
            (5, #"{"all":["price=1.0"]}"#), (6, #"{"any":["price=25e-1","category=jazz"],"none":["price=3.0"]}"#),
            (7, #"{"all":["price=cheap"]}"#), (8, #"{"all":["colour=red"]}"#), (9, #"{"any":["category=jazz","free=yes"]}"#),
        ]
        _ = try service.importItems(
            prices.map { campaign($0, $1) }.joined() + Self.event(30, "food", "Oslo", more: #","price":1"#), arguments: ["--set", setting])
        try poll { try ads("?price=1") == ["ad:5"] }
        #expect(try ads("?price=1.00") == ["ad:5"] && ads("?price=1&price=2.5&price=3") == ["ad:5"])
        #expect(try shown(service, "/feed?price=2.50").allSatisfy { $0 == "ad:6" })
        try explanations(service)
        let states = try JSON(try service.admin("GET", "/admin/campaigns").text)["campaigns"]?.list ?? []
        for (id, condition) in [("c7", "price=cheap"), ("c8", "colour=red"), ("c9", "category=jazz")] {
            let row = states.first { $0["campaign"]?.text == id }
            #expect(row?["state"]?.text == "blocked")
            #expect(row?["reason"]?.text == "targeting: none of its feeds has a filter that can have the context '\(condition)'")
        }
        #expect(states.filter { $0["state"]?.text == "running" }.count == 5)
        let wrong = campaign(4, #"{"all":["music"]}"#)
        #expect(throws: (any Error).self) { try service.importItems(wrong, arguments: ["--set", setting]) }
    }
}
