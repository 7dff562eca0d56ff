import Foundation
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Deferred pages")
struct DeferredPagesTests {
    private static let waiting = #"intertwine_store_reads_queued{file="items"}"#
    private static let viewer = "X-Viewer-ID: v"

    private static func service(_ settings: [String: String] = [:], source: some DataSource = FlatDataSource()) async throws
        -> TestService
    {
        var extensions = ServiceExtensions()
        extensions.dataSources["other"] = source
        return try await TestService(.socket, items: sampleItems(users: 40), settings: settings, extensions: extensions)
    }

    /// A response without the fields that differ in every response.
    private static func told(_ response: RawResponse) -> [String] {
        let fields = response.fields.map { "\($0.name.lowercased()): \($0.value)" }
        return ["\(response.status)"] + fields.filter { !$0.hasPrefix("date:") && !$0.hasPrefix("x-request-id:") }.sorted() + [
            "\(response.body)"
        ]
    }

    private static func next(_ page: RawResponse) throws -> String {
        let match = try #require(page.text.firstRange(of: try Regex(#""next":"[^"]+"#)))
        return String(page.text[match].dropFirst(8))
    }

    /// A percent-encoded path selects the slow route and changes nothing else.
    @Test("Deferred pages and their errors equal those of a task byte for byte", arguments: ["0", "32MiB"])
    func same(cache: String) async throws {
        let service = try await Self.service(["feed.page-cache": cache])
        try await offPool {
            let client = try RawClient(port: service.port)
            try client.send("POST /cells/user:3/dismissal HTTP/1.1\r\nHost: a\r\n\(Self.viewer)\r\nContent-Length: 0\r\n\r\n")
            #expect(try client.response().status == 200)
            var paths = ["/feed", "/feed?limit=7", "/feed?limit=100", "/feeds/other?limit=3", "/feeds/main", "/feed?", "/feed?limit=0"]
            paths += [
                "/feed?limit=101", "/feed?limit=7&limit=7", "/feed?cursor=abc", "/feed?limit=x", "/feed?other=1", "/feeds/none", "/feed/",
            ]
            for path in ["/feed?limit=5", "/feeds/other?limit=5"] {
                var next = path
                for _ in 0..<3 {
                    next = try Self.next(service.get(next))
                    paths.append(next)
                }
            }
            paths.append(paths[paths.count - 1].replacing("/feeds/other", with: "/feed"))
            for path in paths {
                for fields in [[], [Self.viewer], ["X-Viewer-ID: somebody else"], [Self.viewer, Self.viewer], ["X-Viewer-ID: \u{FC}"]] {
                    for coding in [[], ["Accept-Encoding: gzip, deflate, br"], ["Accept-Encoding: br"], ["Accept-Encoding: *;q=0"]] {
                        let fields = fields + coding + ["X-Request-ID: 1"]
                        let short = try service.get(path, fields: fields)
                        let long = try service.get(path.replacing("/feed", with: "/%66eed", maxReplacements: 1), fields: fields)
                        #expect(Self.told(short) == Self.told(long), "\(path) \(fields)")
                    }
                }
            }
            #expect(try !service.get("/feed", fields: [Self.viewer]).text.contains("user:3\""))
            #expect(try service.get("/feed").text.contains("user:3\""))
        }
        await service.stop()
    }

    @Test("A deferred page with gzip has the same content as the plain page")
    func gzip() async throws {
        let service = try await Self.service(["feed.page-cache": "0"])
        try await offPool {
            for fields in [[], [Self.viewer]] {
                let plain = try service.get("/feed?limit=40", fields: fields)
                let coded = try service.get("/feed?limit=40", fields: fields + ["Accept-Encoding: gzip"])
                #expect(coded["content-encoding"] == "gzip" && plain["content-encoding"] == nil)
                #expect(gunzipped(coded.body) == plain.body && coded.body.count * 3 < plain.body.count)
                #expect(coded["etag"] == plain["etag"]?.replacing(/"$/, with: "-gz\""))
                let unchanged = try service.get(
                    "/feed?limit=40", fields: fields + ["Accept-Encoding: gzip", "If-None-Match: \(coded["etag"] ?? "")"])
                #expect(unchanged.status == 304)
            }
        }
        await service.stop()
    }

    @Test("Deferred pages support conditional requests and HEAD")
    func conditions() async throws {
        let service = try await Self.service(["feed.page-cache": "0"])
        try await offPool {
            for fields in [[], [Self.viewer]] {
                let page = try service.get("/feed", fields: fields)
                let tag = try #require(page["etag"])
                let unchanged = try service.get("/feed", fields: fields + ["If-None-Match: \(tag)"])
                #expect(unchanged.status == 304 && unchanged["etag"] == tag && unchanged["link"] == page["link"])
                #expect(unchanged["vary"] == page["vary"] && unchanged["cache-control"] == page["cache-control"])
                #expect(try service.get("/feed", fields: fields + ["If-Match: \"other\""]).status == 412)
                #expect(try service.get("/feed?limit=3", fields: fields)["etag"] != tag)
                let client = try RawClient(port: service.port)
                try client.send("HEAD /feed HTTP/1.1\r\nHost: a\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
                let head = try client.response(to: "HEAD")
                #expect(head.status == 200 && head["content-length"] == page["content-length"] && head["etag"] == tag && head.body.isEmpty)
            }
        }
        await service.stop()
    }

    @Test("Deferred pages have the CORS fields of each allowed origin")
    func origins() async throws {
        let service = try await Self.service(["feed.page-cache": "0", "cors.origins": "https://a.example"])
        try await offPool {
            for origin in ["https://a.example", "https://b.example"] {
                for fields in [[Self.viewer], [], [Self.viewer, "Accept-Encoding: gzip"], ["If-Match: \"other\""]] {
                    let page = try service.get("/feed", fields: fields + ["Origin: \(origin)"])
                    let isAllowed = origin == "https://a.example"
                    #expect(page["access-control-allow-origin"] == (isAllowed ? origin : nil), "\(fields)")
                    #expect(page["access-control-expose-headers"]?.contains("ETag") ?? false == isAllowed, "\(fields)")
                    #expect(page.fields.filter { $0.name.lowercased() == "vary" }.count == 1 && page["vary"]?.contains("Origin") == true)
                }
            }
            #expect(try service.get("/feed", fields: [Self.viewer])["vary"]?.contains("Origin") == true)
        }
        await service.stop()
    }

    @Test("A disconnected client leaves the queue, while its page is rendered for other waiting clients")
    func departure() async throws {
        let valve = Valve(isOpen: false)
        let service = try await Self.service(
            ["store.readers": "1", "store.queue-timeout": "60s", "limits.request-timeout": "60s", "feed.page-cache": "0"],
            source: ValvedSource(valve))
        try await offPool {
            let slow = try service.begin("/feeds/other")
            valve.reach(1)
            let gone = try [service.begin("/feed?limit=3"), service.begin("/feed?limit=4", fields: [Self.viewer])]
            try service.reach(Self.waiting, 2...3)
            let stays = try service.begin("/feed?limit=3")
            try service.reach("intertwine_feed_page_coalesced_requests_total", 1)
            for client in gone { client.reset() }
            // The viewer's page left the queue; the shared page is rendered for the remaining client.
            try service.reach("intertwine_feed_page_cache_misses_total", 3)
            try service.reach(Self.waiting, 1...2)
            valve.open()
            #expect(try slow.response().status == 200)
            #expect(try stays.response().status == 200)
        }
        await service.stop()
    }
}
