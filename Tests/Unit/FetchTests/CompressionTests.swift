import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Compressed bodies and credentials", .timeLimit(.untilStuck))
struct CompressionTests {
    private func get(_ fetcher: Fetcher, _ url: String, bytes: Int = 1 << 20, adjust: (inout FetchRequest) -> Void = { _ in }) async throws
        -> Fetched
    {
        var request = FetchRequest(try FetchURL(url))
        request.acceptsCompression = true
        request.limits.bodyBytes = bytes
        adjust(&request)
        let fetched = Fetched()
        fetched.begin(fetcher.transfers.start(request) { fetched.handle($0) })
        await fetched.ended()
        return fetched
    }

    @Test("A compressed body is requested if allowed, and decompressed")
    func decompressed() async throws {
        let bytes = Array(String(repeating: "one and the same ", count: 10_000).utf8)
        let origin = try Origin { request, connection in
            let isCompressed = request.headers["accept-encoding"]?.contains("gzip") == true
            connection.answer(200, isCompressed ? ["Content-Encoding: gzip"] : [], body: isCompressed ? gzipped(bytes) : bytes)
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        let fetched = try await get(fetcher, origin.url())
        #expect(fetched.failure == .some(nil))
        #expect(fetched.body == bytes)
        #expect(try await fetcher.get(origin.url()).body == bytes)
        #expect(origin.requests.map { $0.headers["accept-encoding"] } == ["gzip", nil])
        await fetcher.stop()
    }

    @Test("A body that exceeds the limit after decompression is refused")
    func bomb() async throws {
        let bomb = gzipped([UInt8](repeating: 32, count: 8 << 20))
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Encoding: gzip"], body: bomb) }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port])
        #expect(bomb.count < 1 << 20)
        let fetched = try await get(fetcher, origin.url())
        #expect(fetched.failure == .some(.bodyTooLarge))
        #expect(fetched.body.count <= 1 << 20)
        let damaged = try Origin { _, connection in connection.answer(200, ["Content-Encoding: gzip"], body: Array([0x1F, 0x8B, 8, 0, 1])) }
        defer { damaged.stop() }
        let other = try Fetcher(ports: [damaged.port])
        #expect(try await get(other, damaged.url()).failure == .some(.truncated))
        await other.stop()
        await fetcher.stop()
    }

    @Test(
        "The coding deflate is decoded with the header of zlib and without, if it is applied",
        arguments: ["deflate", "Deflate", "x, deflate"])
    func deflated(_ coding: String) async throws {
        let bodies = ["[1,2,3]", "[]", #"{"a":"\(String(repeating: "one and the same ", count: 1_000))"}"#].map { Array($0.utf8) }
        for body in bodies {
            let raw = Array(gzipped(body).dropFirst(10).dropLast(8))
            let (low, high) = body.reduce((1, 0)) { sums, byte in
                let low = (sums.0 + Int(byte)) % 65_521
                return (low, (sums.1 + low) % 65_521)
            }
            let check = [high >> 8, high & 255, low >> 8, low & 255].map { UInt8($0) }
            let forms = [raw, [0x78, 0x9C] + raw + check, [0x78, 0x01] + raw + check, body, gzipped(body)]
            let origin = try Origin { request, connection in
                connection.answer(200, ["Content-Encoding: \(coding)"], body: forms[Int(request.path.dropFirst()) ?? 0])
            }
            let fetcher = try Fetcher(ports: [origin.port])
            for number in forms.indices {
                let fetched = try await get(fetcher, origin.url("/\(number)"))
                #expect(fetched.failure == .some(nil) && fetched.body == body, "form \(number)")
            }
            await fetcher.stop()
            origin.stop()
        }
    }

    @Test("A checksum that is wrong or missing costs nothing, and compressed data that is not complete is an error")
    func trailers() async throws {
        let texts = [Array("[1,2,3]".utf8), Array(String(repeating: "one and the same ", count: 1_000).utf8)]
        for body in texts + [(0..<3_000).map { UInt8(32 + $0 * $0 * 31 % 95) }] {
            let whole = gzipped(body)
            let zlib = [0x78, 0x9C] + whole.dropFirst(10).dropLast(8)
            let kept = (0...7).map { Array(whole.dropLast($0)) } + [Array(whole.dropLast(8))]
            let wrong = [whole.dropLast(8) + [UInt8](repeating: 1, count: 8), whole.dropLast(4) + [1, 1, 1, 1]].map { Array($0) }
            let cut =
                (9...12).map { Array(whole.dropLast($0)) } + [Array(whole.prefix(9)), Array(whole.prefix(10)), Array(whole.prefix(2))]
            let zlibCut = (1...4).map { Array(zlib.dropLast($0)) }
            let forms = kept + wrong + [whole + [0, 0], wrong[0] + [0, 0], zlib, zlib + [1, 1, 1, 1], zlib + [0]] + cut + zlibCut
            let origin = try Origin { request, connection in
                let form = Int(request.path.dropFirst()) ?? 0
                connection.answer(200, ["Content-Encoding: \(forms[form].first == 0x78 ? "deflate" : "gzip")"], body: forms[form])
            }
            let fetcher = try Fetcher(ports: [origin.port])
            for number in forms.indices {
                let fetched = try await get(fetcher, origin.url("/\(number)"))
                if number < forms.count - cut.count - zlibCut.count {
                    #expect(fetched.failure == .some(nil) && fetched.body == body, "form \(number)")
                } else {
                    #expect(fetched.failure == .some(.truncated), "form \(number)")
                }
            }
            await fetcher.stop()
            origin.stop()
        }
    }

    @Test("Credentials are sent to their origin only, also after redirects")
    func credentials() async throws {
        let back = Mutex("")
        let other = try Origin { request, connection in
            guard request.path == "/back" else { return connection.answer(200, body: [1]) }
            connection.answer(302, ["Location: \(back.withLock(\.self))"])
        }
        defer { other.stop() }
        let (elsewhere, beyond) = (other.url("/there"), other.url("/back"))
        let origin = try Origin { request, connection in
            switch request.path {
            case "/out": connection.answer(302, ["Location: \(elsewhere)"])
            case "/away": connection.answer(302, ["Location: \(beyond)"])
            case "/in": connection.answer(302, ["Location: /here"])
            default: connection.answer(200, body: [1])
            }
        }
        defer { origin.stop() }
        let fetcher = try Fetcher(ports: [origin.port, other.port])
        back.withLock { $0 = origin.url("/returned") }
        for path in ["/out", "/in", "/away"] {
            let fetched = try await get(fetcher, origin.url(path)) {
                $0.credentials = [.authorization: "Bearer secret"]
            }
            #expect(fetched.failure == .some(nil))
        }
        #expect(origin.requests.map(\.path) == ["/out", "/in", "/here", "/away", "/returned"])
        // The other origin chose the last URL.
        #expect(origin.requests.map { $0.headers["authorization"] == "Bearer secret" } == [true, true, true, true, false])
        #expect(other.requests.map { $0.headers["authorization"] } == [nil, nil])
        await fetcher.stop()
    }
}
