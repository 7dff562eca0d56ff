import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Fetching over TLS", .timeLimit(.untilStuck))
struct SecureTests {
    private let here: Resolver.Lookup = { _ in .success(["127.0.0.1"].compactMap(IPAddress.init)) }

    @Test("The certificate and the name in it are checked")
    func verified() async throws {
        let origin = try SecureOrigin()
        let trusting = try Fetcher(ports: [origin.port], certificates: origin.certificate, lookup: here)
        let good = try await trusting.get("https://secure.example:\(origin.port)/")
        #expect(good.failure == .some(nil))
        #expect(good.head?.status == 200 && !good.body.isEmpty)
        let wrongName = try await trusting.get("https://other.example:\(origin.port)/")
        #expect(wrongName.failure == .some(.tlsFailed))
        let strict = try Fetcher(ports: [origin.port], lookup: here)
        let unknown = try await strict.get("https://secure.example:\(origin.port)/")
        #expect(unknown.failure == .some(.tlsFailed))
        await trusting.stop()
        await strict.stop()
    }

    @Test("Decrypted bytes after a response do not belong to the next one")
    func behind() async throws {
        let dialogue = (requests: Pipe(), answers: Pipe())
        let origin = try SecureOrigin(dialogue: dialogue)
        let fetcher = try Fetcher(ports: [origin.port], certificates: origin.certificate, lookup: here)
        func answer(_ body: [UInt8]) -> Data { Data("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body }
        let requests = dialogue.requests.fileHandleForReading
        func readRequest() async throws {
            try await offPool {
                var read = Data()
                while !read.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                    let more = requests.availableData
                    if more.isEmpty { return }
                    read += more
                }
            }
        }
        let url = "https://secure.example:\(origin.port)/"
        let long = [UInt8](repeating: 7, count: 20_000)
        let first = try fetcher.start(url)
        try await readRequest()
        // Records of 16 KiB: the second one has the tail of the one answer and all of the other.
        dialogue.answers.fileHandleForWriting.write(answer(long) + answer([6, 6, 6]))
        await first.ended()
        #expect(first.body == long)
        let second = try fetcher.start(url)
        try await readRequest()
        dialogue.answers.fileHandleForWriting.write(answer([1]))
        await second.ended()
        #expect(second.body == [1])
        await fetcher.stop()
    }
}
