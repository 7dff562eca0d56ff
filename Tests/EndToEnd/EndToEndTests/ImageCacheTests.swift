import Foundation
import TestSupport
import Testing

/// Caching fields of images, and the requests that browsers and other caches send.
@Suite("Images and HTTP caches from outside", .timeLimit(.untilStuck))
struct ImageCacheTests {
    private static let bytes = try? Data(
        contentsOf: URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Sources/IntertwineSample/files/images/avatar-0.png")
            .standardized)
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private static func start(_ settings: [String], _ environment: [String: String] = [:]) throws -> (
        service: RunningService, origin: Origin
    ) {
        let image = Array(try #require(bytes))
        let origin = try Origin { _, connection in
            connection.answer(
                200,
                ["Content-Type: image/png", "Cache-Control: max-age=3600", "Age: 30", "ETag: \"theirs\"", "Last-Modified: \(date)"],
                body: image)
        }
        let user =
            #"{"kind":"user","id":"a","username":"A","avatarUrl":"\#(origin.url("/a.png"))","type":"featured"}"# + "\n"
        let service = try RunningService(
            items: user,
            settings: ["images.worker-program=/none", "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)"]
                + settings,
            environment: environment)
        return (service, origin)
    }

    private static func href(_ service: RunningService) throws -> String {
        let cell = try JSON(try service.get("/feed").text)["cells"]?.list.first
        return try #require(cell?["actions"]?["configuration"]?["bindings"]?["avatar"]?["href"]?.text)
    }

    @Test("An image URL changes monthly, survives a restart, and expires a week after its change")
    func stable() async throws {
        try await offPool {
            let clock = try MovableClock()
            let (service, origin) = try Self.start(["signing.key=\(String(repeating: "2a", count: 32))"], clock.environment)
            defer { origin.stop() }
            let (hour, day): (Int64, Int64) = (3_600, 86_400)
            var seen: [(href: String, since: Int64)] = []
            for hours in stride(from: Int64(0), through: 40 * 24, by: 6) {
                clock.offset = hours * hour
                let href = try Self.href(service)
                if href != seen.last?.href { seen.append((href, clock.offset)) }
                if hours == 6 { try service.killAndRestart() }
            }
            // Each image changes at a different time: 40 days contain one or two changes, 30 days apart.
            try #require((2...3).contains(seen.count), "\(seen)")
            if seen.count == 3 { #expect(seen[2].since - seen[1].since == 30 * day) }
            let (old, change) = (seen[0].href, seen[1].since)
            for (offset, status) in [(change, 200), (change + 6 * day, 200), (change + 8 * day, 410)] {
                clock.offset = offset
                #expect(try service.get(old).status == status, "\((offset - change) / day) days behind the change")
            }
            clock.offset = change + 8 * day
            #expect(try service.get(seen[1].href).status == 200)
        }
    }

    struct Row: Sendable, CustomStringConvertible {
        let description: String
        let fields: [String]
        let status: Int
        /// The bytes of the image in the response.
        let part: @Sendable ([UInt8]) -> [UInt8]

        init(_ says: String, _ fields: String..., part: @escaping @Sendable ([UInt8]) -> [UInt8]) {
            (self.fields, status, self.part, description) = (fields, 206, part, "\(says): \(fields)")
        }

        /// - Parameter status: 200 for the whole image; other statuses for an empty body.
        init(_ says: String, _ fields: String..., status: Int = 200) {
            (self.fields, self.status, description) = (fields, status, "\(says): \(fields)")
            part = { status == 200 ? $0 : [] }
        }
    }

    /// TAG is a placeholder for the ETag of the image. The tests of the server cover all forms of conditions and ranges.
    private static let rows: [Row] = [
        Row("its tag", "If-None-Match: TAG", status: 304), Row("its tag, weakly", "If-None-Match: W/TAG", status: 304),
        Row("its tag among others", "If-None-Match: \"x\", TAG", status: 304), Row("any tag", "If-None-Match: *", status: 304),
        Row("the origin's tag, which is none of ours", "If-None-Match: \"theirs\""), Row("another tag", "If-None-Match: \"x\""),
        Row("its date", "If-Modified-Since: \(date)", status: 304),
        Row("an earlier date", "If-Modified-Since: Sun, 06 Nov 1983 08:49:37 GMT"),
        Row("a tag decides before a date", "If-None-Match: \"x\"", "If-Modified-Since: \(date)"),
        Row("the first bytes", "Range: bytes=0-9") { Array($0.prefix(10)) }, Row("the last", "Range: bytes=-10") { $0.suffix(10) },
        Row("from somewhere on", "Range: bytes=40-") { Array($0.dropFirst(40)) }, Row("another unit", "Range: lines=0-9"),
        Row("a part of what it is", "Range: bytes=0-9", "If-Range: TAG") { Array($0.prefix(10)) },
        Row("all of what it is by now", "Range: bytes=0-9", "If-Range: \"x\""),
        Row("cookies are nobody's business", "Cookie: a=b"), Row("nor is who asks", "Authorization: Basic YTpi"),
        Row("only if it is stored", "Cache-Control: only-if-cached"),
    ]

    @Test("A cached image supports conditions, ranges and Age without a request to the origin")
    func stored() async throws {
        try await offPool {
            let image = Array(try #require(Self.bytes))
            let clock = try MovableClock()
            let (service, origin) = try Self.start([], clock.environment)
            defer { origin.stop() }
            let href = try Self.href(service)
            let first = try service.get(href)
            let tag = try #require(first["etag"])
            #expect(first.body == image && tag != "\"theirs\"" && first["last-modified"] == Self.date)
            clock.offset = 100
            for row in Self.rows {
                let got = try service.get(href, fields: row.fields.map { $0.replacing("TAG", with: tag) })
                #expect(got.status == row.status && got.body == row.part(image), "\(row): \(got)")
                #expect(got["etag"] == tag && got["vary"] == "Accept" && got["cache-control"] == "public, max-age=3600", "\(row): \(got)")
                let age = try #require(got["age"].flatMap { Int($0) })
                #expect((130..<200).contains(age), "\(row): \(got)")
            }
            let head = try service.ask("HEAD", href)
            #expect(head.status == 200 && head["content-length"] == String(image.count) && head["etag"] == tag && head.body.isEmpty)
            #expect(origin.requests.count == 1)
        }
    }
}
