import Foundation
import TestSupport
import Testing

@Suite("GET /feed from outside")
struct FeedTests {
    @Test("A page has cells in the documented format and the ad at the midpoint")
    func shape() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.user("tt", "featured") + Items.user("g") + Items.user("s", background: false) + Items.advertisement(1))
            let response = try service.get("/feed")
            #expect(response.status == 200)
            #expect(response["content-type"] == "application/json")
            let page = try JSON(response.text)
            #expect(page["cells"]?.list.compactMap { $0["id"]?.text } == ["user:tt", "ad:1", "user:g", "user:s"])
            let identifiers = page["cells"]?.list.compactMap { $0["identifier"]?.text }
            #expect(
                identifiers == [
                    "CircularUserCollectionViewCell", "AdvertisementCollectionViewCell", "UserSnapshotCollectionViewCell",
                    "UserSnapshotCollectionViewCell",
                ])
            let sizes = page["cells"]?.list.map { [$0["size"]?["width"]?.number, $0["size"]?["height"]?.number] }
            #expect(sizes == [[300, 190], [220, 220], [300, 200], [300, 200]])
            let bindings = page["cells"]?.list.map { $0["actions"]?["configuration"]?["bindings"]?.keys }
            #expect(
                bindings == [
                    ["username", "avatar"], ["content", "disclosure"], ["username", "avatar", "background"], ["username", "avatar"],
                ])
            let circular = page["cells"]?[0]?["actions"]
            #expect(circular?["cancellation"]?["templated"] != nil)
            #expect(circular?["selection"]?["href"]?.text == "/cells/user:tt/selection")
            #expect(circular?["selection"]?["method"]?.text == "POST")
            #expect(circular?["deselection"]?["method"]?.text == "DELETE")
            #expect(circular?["configuration"]?["bindings"]?["avatar"]?["href"]?.text?.hasPrefix("/images/") == true)
            #expect(page["cells"]?[1]?["actions"]?["selection"]?["href"]?.text?.hasPrefix("/click/") == true)
            #expect(page["page"]?["limit"]?.number == 20)
            #expect(page["page"]?["next"]?.isNull == true)
            #expect(page["page"]?["previous"]?.isNull == true)
        }
    }

    @Test("Percent-encoded letters in the path and in parameter names have no effect")
    func escapes() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            #expect(try service.get("/%66eed").text == service.get("/feed").text)
            #expect(try service.get("/feed?%6Cimit=0").status == 400)
            #expect(try service.get("/feed?limit=1&%6Cimit=2").status == 400)
            #expect(try service.ask("POST", "/%63ells/%75ser%3Au1/selection").status == 200)
            #expect(try service.get("/f%65ed%2F").status == 404)
        }
    }

    @Test("Next links reach each user once, and previous links return the same pages")
    func walking() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(45) + Items.advertisements(4))
            var path: String? = "/feed?limit=10"
            var forward: [[String]] = []
            var last: String?
            while let current = path {
                let response = try service.get(current)
                let page = try JSON(response.text)
                forward.append(page["cells"]?.list.compactMap { $0["id"]?.text } ?? [])
                last = page["page"]?["previous"]?.text
                path = page["page"]?["next"]?.text
                if let path { #expect(response["link"]?.contains("<\(path)>; rel=\"next\"") == true) }
            }
            #expect(forward.count == 5)
            #expect(forward.flatMap { $0 }.filter { $0.hasPrefix("user:") } == (0..<45).map { "user:u\($0)" })
            #expect(forward.map { $0.filter { $0.hasPrefix("ad:") } } == [["ad:1"], ["ad:2"], ["ad:3"], ["ad:4"], ["ad:1"]])
            var backward = [forward.last ?? []]
            path = last
            while let current = path {
                let page = try JSON(try service.get(current).text)
                backward.append(page["cells"]?.list.compactMap { $0["id"]?.text } ?? [])
                path = page["page"]?["previous"]?.text
            }
            #expect(backward == forward.reversed())
        }
    }

    @Test("An invalid limit or cursor returns 400 and its problem type")
    func wrongParameters() async throws {
        let queries = [
            ("limit=0", "invalid-parameter"), ("limit=101", "invalid-parameter"), ("limit=", "invalid-parameter"),
            ("limit=+5", "invalid-parameter"), ("limit=5&limit=6", "invalid-parameter"),
            ("limit=99999999999999999999", "invalid-parameter"),
            ("cursor=", "invalid-cursor"), ("cursor=abc", "invalid-cursor"), ("cursor=%ff", "invalid-cursor"),
            ("cursor=%00", "invalid-cursor"), ("cursor=a&cursor=b", "invalid-cursor"),
        ]
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            for (query, problem) in queries {
                let response = try service.get("/feed?\(query)")
                #expect(response.status == 400 && response["content-type"] == "application/problem+json", "\(query)")
                let details = try JSON(response.text)
                #expect(details["type"]?.text == "/problems/\(problem)" && details["status"]?.number == 400, "\(query)")
                #expect(details["title"]?.text?.isEmpty == false, "\(query)")
            }
        }
    }

    @Test("Each viewer has a stable first ad, and viewers share the ads evenly")
    func rotation() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3) + Items.advertisements(10), settings: ["ads.rotation=fair"])
            func first(_ viewer: Int) throws -> String? {
                let page = try JSON(try service.get("/feed", fields: ["User-Agent: tests", "X-Viewer-ID: viewer-\(viewer)"]).text)
                return page["cells"]?.list.compactMap { $0["id"]?.text }.first { $0.hasPrefix("ad:") }
            }
            // Both rounds must be in one hour. If the hour ends between them, two more rounds replace them.
            var rounds = [try (0..<100).map(first), try (0..<100).map(first)]
            if rounds[0] != rounds[1] { rounds = [try (0..<100).map(first), try (0..<100).map(first)] }
            #expect(rounds[0] == rounds[1])
            let counts = Dictionary(grouping: rounds[0].compactMap { $0 }, by: { $0 }).mapValues(\.count)
            #expect(counts.count == 10 && counts.values.allSatisfy { (7...13).contains($0) }, "\(counts)")
        }
    }

    @Test("HEAD, conditional requests and gzip agree with the page, cached or not")
    func semantics() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(30) + Items.advertisement(1))
            // The first pass renders the page, and the second uses the page cache.
            for _ in 0..<2 {
                let page = try service.get("/feed")
                let tag = try #require(page["etag"])
                let head = try service.ask("HEAD", "/feed")
                #expect(head.status == 200 && head.body.isEmpty && head["content-length"] == page["content-length"])
                #expect(head["etag"] == tag)
                let same = try service.get("/feed", fields: ["If-None-Match: \(tag)"])
                #expect(same.status == 304 && same["vary"] == page["vary"] && same["cache-control"] == page["cache-control"])
                let coded = try service.get("/feed", fields: ["Accept-Encoding: gzip"])
                #expect(coded["content-encoding"] == "gzip" && coded["etag"] != tag && coded.body.count < page.body.count / 2)
                #expect(page["vary"]?.contains("Accept-Encoding") == true)
                let again = try service.get("/feed", fields: ["Accept-Encoding: gzip", "If-None-Match: \(coded["etag"] ?? "")"])
                #expect(again.status == 304)
                let plain = try service.get("/feed", fields: ["Accept-Encoding: gzip;q=0"])
                #expect(plain["content-encoding"] == nil && plain.body == page.body)
            }
        }
    }

    @Test("An import is on the next page, or soon after with PostgreSQL")
    func freshness() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2))
            /// Returns whether the page shows the import. With PostgreSQL, polls until the notification arrives.
            func told(_ isNew: (JSON) -> Bool) throws -> Bool {
                let end = ContinuousClock.now + .seconds(30)
                while true {
                    let page = try JSON(try service.get("/feed?limit=100").text)
                    if isNew(page) { return true }
                    guard RunningService.usesPostgreSQL, ContinuousClock.now < end else { return false }
                }
            }
            for round in 0..<TestSize.full(20, small: 4) {
                #expect(try told { $0["cells"]?.list.count == 2 + round })
                _ = try service.importItems(Items.user("new\(round)"))
            }
            _ = try service.importItems(
                #"{"kind":"user","id":"u0","username":"Renamed","avatarUrl":"https://a.example/x","type":"regular"}"#)
            #expect(
                try told { $0["cells"]?[0]?["actions"]?["configuration"]?["bindings"]?["username"]?["text"]?.text == "Renamed" })
        }
    }

    @Test("Settings select the cell of each user type and the ad positions")
    func configuration() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(4) + Items.advertisements(3),
                settings: [
                    "cells.user.regular=CircularUserCollectionViewCell", "cells.user.featured=UserSnapshotCollectionViewCell",
                    "ads.per-page=3", "ads.rotation=listed",
                ])
            let page = try JSON(try service.get("/feed").text)
            #expect(page["cells"]?[0]?["identifier"]?.text == "UserSnapshotCollectionViewCell")
            #expect(
                page["cells"]?.list.compactMap { $0["id"]?.text } == ["user:u0", "user:u1", "ad:1", "ad:2", "ad:3", "user:u2", "user:u3"])
        }
    }

    @Test("Unknown paths return 404, other methods 405 with Allow, and OPTIONS 204")
    func routing() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            #expect(try service.get("/nothing").status == 404)
            #expect(try service.get("/feed/").status == 404)
            let refused = try service.ask("DELETE", "/feed")
            #expect(refused.status == 405 && refused["allow"] == "HEAD, GET, OPTIONS")
            let options = try service.ask("OPTIONS", "/feed")
            #expect(options.status == 204 && options["allow"] == "HEAD, GET, OPTIONS")
            #expect(try service.get("/healthz").status == 200)
            // On a busy machine the first check of a store can exceed its time.
            try poll { try service.get("/readyz").status == 200 }
        }
    }
}
