import TestSupport
import Testing

@Suite("Negotiation, conditions, ranges")
struct SemanticsTests {
    /// What a row of the tables below expects of an answer.
    struct Row: Sendable, CustomTestStringConvertible {
        let fields: [String]
        let status: Int
        var coding: String?
        var range: String?
        var bytes: Int?
        var method = "GET"
        var testDescription: String { "\(method) \(fields.joined(separator: " | ")) → \(status)" }
    }

    private static func row(_ value: String, _ status: Int = 200, gzip: Bool) -> Row {
        Row(fields: ["Accept-Encoding: \(value)"], status: status, coding: gzip ? "gzip" : nil)
    }

    static let codings: [Row] =
        [Row(fields: [], status: 200)]
        + [
            "", "identity", "*;q=0, identity", "@@;;q", "gzip;q=0", "gzip;q=0.000", "br", "*;q=0.5, gzip;q=0", "gzip;q=0.5, identity",
            "identity;q=1, gzip;q=0.1", "gzip;q=2", "gzip;q=0.12x4", "gzip;q=",
            Array(repeating: "x", count: 40).joined(separator: ",") + ", gzip",
        ].map { row($0, gzip: false) }
        + [
            "gzip", "x-gzip", "GZIP", "gzip;q=1.0", "*", "deflate;q=0.5, gzip;q=0.8", "br, gzip", "gzip ; q=0.3", "gzip;q=0.0001",
            "x;y=\"a,b\", gzip;z;Q=1.000", "identity;q=0, gzip",
        ].map {
            row($0, gzip: true)
        }
        + ["identity;q=0", "*;q=0", "br, identity;q=0"].map { row($0, 406, gzip: false) }
        + [Row(fields: ["Accept-Encoding: br", "Accept-Encoding: gzip"], status: 200, coding: "gzip")]

    @Test("The content coding of a page", arguments: codings)
    func coding(_ row: Row) async throws {
        let answer = try await ask("/page", row)
        #expect(answer.status == row.status)
        #expect(answer["content-encoding"] == row.coding)
        #expect(answer["vary"] == "Accept-Encoding")
        if answer.status == 200 {
            #expect(answer["etag"] == (row.coding == nil ? "\"page\"" : "\"page-gz\""))
            #expect(row.coding == nil ? answer.body == EchoHandler.text : answer.body.starts(with: [0x1F, 0x8B]))
        }
    }

    @Test("An image is sent without content coding", arguments: ["gzip", "identity;q=0", "*;q=0"])
    func images(_ value: String) async throws {
        let answer = try await ask("/image", Row(fields: ["Accept-Encoding: \(value)"], status: 200))
        #expect(answer.status == 200 && answer["content-encoding"] == nil && answer["vary"] == nil)
    }

    private static let exactly = "Sun, 06 Nov 1994 08:49:37 GMT"

    static let conditions: [Row] =
        ["\"page\"", "W/\"page\"", "\"x\", \"page\"", "*"].flatMap { value in
            ["GET", "HEAD"].map { Row(fields: ["If-None-Match: \(value)"], status: 304, method: $0) }
        }
        + ["page", "\"x\"", "'page'", "", "\"page-gz\""].map {
            Row(fields: ["If-None-Match: \($0)", "If-Modified-Since: \(exactly)"], status: 200)
        }
        + [exactly, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Mon, 07 Nov 1994 08:49:37 GMT"].map {
            Row(fields: ["If-Modified-Since: \($0)"], status: 304)
        }
        + ["Sun, 06 Nov 1994 08:49:36 GMT", "yesterday", "\(exactly), \(exactly)", "Sun, 99 Nov 1994 08:49:37 GMT", "784111777"].map {
            Row(fields: ["If-Modified-Since: \($0)"], status: 200)
        }
        + [
            Row(fields: ["If-Modified-Since: \(exactly)"], status: 200, method: "POST"),
            Row(fields: ["If-None-Match: \"page-gz\"", "Accept-Encoding: gzip"], status: 304),
            Row(fields: ["If-None-Match: \"page\"", "Accept-Encoding: gzip"], status: 200, coding: "gzip"),
            Row(fields: ["If-Match: \"x\""], status: 412), Row(fields: ["If-Match: W/\"page\""], status: 412),
            Row(fields: ["If-Match: \"page\""], status: 200), Row(fields: ["If-Match: *"], status: 200),
            Row(fields: ["If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT"], status: 412),
            Row(fields: ["If-Unmodified-Since: \(exactly)"], status: 200),
            Row(fields: ["If-Match: \"page\"", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT"], status: 200),
            Row(fields: ["If-Match: \"x\"", "If-None-Match: \"page\""], status: 412),
        ]

    @Test("Preconditions of a page", arguments: conditions)
    func condition(_ row: Row) async throws {
        let answer = try await ask("/page", row)
        #expect(answer.status == row.status)
        if answer.status == 304 {
            #expect(answer["etag"] != nil && answer["cache-control"] == "no-cache" && answer["vary"] == "Accept-Encoding")
            #expect(answer["content-type"] == nil)
        }
    }

    @Test("Preconditions are ignored for errors", arguments: [("GET", "/missing", 404), ("DELETE", "/feed", 405)])
    func conditionsOfErrors(method: String, path: String, status: Int) async throws {
        let answer = try await ask(path, Row(fields: ["If-None-Match: *", "If-Match: \"x\""], status: status, method: method))
        #expect(answer.status == status)
    }

    @Test("A future Last-Modified is not sent, and preconditions compare with the sent one")
    func future() async throws {
        let told = try #require(try await ask("/tomorrow", Row(fields: [], status: 200))["last-modified"])
        let rows = [
            Row(fields: ["If-Modified-Since: \(told)"], status: 304), Row(fields: ["If-Unmodified-Since: \(told)"], status: 200),
            Row(fields: ["Range: bytes=0-99", "If-Range: \(told)"], status: 206),
        ]
        for row in rows { #expect(try await ask("/tomorrow", row).status == row.status, "\(row.fields)") }
    }

    static let ranges: [Row] =
        [
            Row(fields: ["Range: bytes=0-99"], status: 206, range: "bytes 0-99/1000", bytes: 100),
            Row(fields: ["Range: bytes=-100"], status: 206, range: "bytes 900-999/1000", bytes: 100),
            Row(fields: ["Range: bytes=100-"], status: 206, range: "bytes 100-999/1000", bytes: 900),
            Row(fields: ["Range: bytes=-2000"], status: 206, range: "bytes 0-999/1000", bytes: 1000),
            Row(fields: ["Range: bytes=0-9223372036854775807"], status: 206, range: "bytes 0-999/1000", bytes: 1000),
            Row(
                fields: ["Range: bytes=00000000000000000000000000-00000000000000000000000099"], status: 206, range: "bytes 0-99/1000",
                bytes: 100),
            Row(fields: ["Range: bytes=0-99", "If-Range: \"image\""], status: 206, range: "bytes 0-99/1000", bytes: 100),
            Row(fields: ["Range: bytes=0-99", "If-Range: \(exactly)"], status: 206, range: "bytes 0-99/1000", bytes: 100),
            Row(fields: ["Range: bytes=0-99", "If-None-Match: \"image\""], status: 304),
        ]
        + ["999999-", "-0", "-00000000000000000000000000", "18446744073709551616-", "1000-1001"].map {
            Row(fields: ["Range: bytes=\($0)"], status: 416, range: "bytes */1000")
        }
        + ["bytes=5-2", "bytes=a-b", "lines=1-2", "bytes=0-1,2-3", "bytes=0-500,100-600,200-", "bytes=-", "bytes", "bytes=+1-2"].map {
            Row(fields: ["Range: \($0)"], status: 200, bytes: 1000)
        }
        + [
            "\"other\"", "W/\"image\"", "\"image\", \"other\"", "\"other\", \"image\"", "\"image\",", "*", "Sun, 06 Nov 1994 08:49:38 GMT",
            "image",
        ].map {
            Row(fields: ["Range: bytes=0-99", "If-Range: \($0)"], status: 200, bytes: 1000)
        }

    @Test("ranges of an image, in memory and in a file", arguments: ranges, ["/image", "/file"])
    func range(_ row: Row, path: String) async throws {
        let answer = try await ask(path, row)
        #expect(answer.status == row.status)
        #expect(answer["content-range"] == row.range)
        if let bytes = row.bytes {
            let start = row.range.flatMap { Int($0.split(whereSeparator: { $0 == " " || $0 == "-" })[1]) } ?? 0
            #expect(answer.body == (start..<(start + bytes)).map { UInt8($0 % 251) })
        }
    }

    @Test("A range of a page, HEAD or POST is ignored", arguments: [("GET", "/page"), ("HEAD", "/image"), ("POST", "/image")])
    func rangeIgnored(method: String, path: String) async throws {
        #expect(try await ask(path, Row(fields: ["Range: bytes=0-9"], status: 200, method: method)).status == 200)
    }

    @Test("HEAD has the fields of GET and no body", arguments: ["/page", "/image", "/file", "/missing", "/stream-known", "/echo"])
    func head(path: String) async throws {
        let get = try await ask(path, Row(fields: [], status: 200))
        let head = try await ask(path, Row(fields: [], status: 200, method: "HEAD"))
        #expect(head.status == get.status && head.body.isEmpty)
        let names = { (response: RawResponse) in response.fields.map(\.name) }
        #expect(names(head) == names(get))
        if path != "/echo" { #expect(head["content-length"] == get["content-length"]) }
    }

    private func ask(_ path: String, _ row: Row) async throws -> RawResponse {
        let port = try await TestServer.shared.value.port
        return try await offPool {
            let client = try RawClient(port: port)
            let lines = (["Host: a"] + row.fields).map { $0 + "\r\n" }.joined()
            try client.send("\(row.method) \(path) HTTP/1.1\r\n\(lines)\r\n")
            let answer = try client.response(to: row.method)
            // Whatever was answered, the connection is where it should be.
            try client.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.response().text == "GET a /next\n")
            return answer
        }
    }
}
