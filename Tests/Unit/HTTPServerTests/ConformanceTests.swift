public import TestSupport
public import Testing

@Suite("Conformance over a socket")
struct ConformanceTests {
    @Test("Request line: the same response for any segmentation", arguments: ConformanceCase.requestLines)
    func requestLine(_ candidate: ConformanceCase) async throws { try await check(candidate) }

    @Test("Fields and Host: the same response for any segmentation", arguments: ConformanceCase.fields)
    func fields(_ candidate: ConformanceCase) async throws { try await check(candidate) }

    @Test("Framing of bodies: the same response for any segmentation", arguments: ConformanceCase.bodies)
    func bodies(_ candidate: ConformanceCase) async throws { try await check(candidate) }

    private func check(_ candidate: ConformanceCase) async throws {
        let port = try await TestServer.shared.value.port
        try await offPool {
            let bytes = candidate.bytes
            func verify(_ parts: [[UInt8]], _ way: String, behind: Bool = false) throws {
                try Self.verify(candidate, parts, port: port, behind: behind, "\(candidate.summary), \(way)")
            }
            try verify([bytes], "in one write")
            try verify(bytes.map { [$0] }, "byte by byte")
            try verify([Array(ConformanceCase.get().utf8) + bytes], "behind another request", behind: true)
            // Every offset of what is short; of what is long, the ends and a sample between. ConnectionStateTests has all offsets in memory.
            let offsets = bytes.indices.filter { $0 < 120 || $0 > bytes.count - 40 || $0 % 611 == 0 }.dropFirst()
            let distance = TestSize.full(1, small: max(1, offsets.count / 8))
            for offset in offsets.enumerated().filter({ $0.offset % distance == 0 }).map(\.element) {
                try verify([Array(bytes[..<offset]), Array(bytes[offset...])], "split at \(offset)")
            }
        }
    }

    private static func verify(_ candidate: ConformanceCase, _ parts: [[UInt8]], port: UInt16, behind: Bool, _ way: String) throws {
        let client = try RawClient(port: port)
        defer { client.close() }
        client.send(parts: parts)
        do {
            if behind {
                let first = try client.response()
                #expect(first.status == 200 && first.text == "GET a /\n", "\(way): the request before it")
            }
            let response = try client.response(to: candidate.method)
            #expect(response.status == candidate.status, "\(way)")
            #expect(response.text.hasSuffix(candidate.ending), "\(way): \(response.text)")
            #expect(response.closes == candidate.closes, "\(way): Connection is \(response["connection"] ?? "absent")")
            if candidate.closes {
                #expect(try client.isClosedByServer(), "\(way): there is more behind the last answer")
            } else {
                try client.send("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.response().text == "GET a /next\n", "\(way): the next request")
            }
        } catch {
            Issue.record("\(way): \(error)")
        }
    }
}

extension ConformanceCase: CustomTestStringConvertible {
    public var testDescription: String { summary }
}
