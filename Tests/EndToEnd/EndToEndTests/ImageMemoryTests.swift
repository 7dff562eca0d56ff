import Foundation
import TestSupport
import Testing

@Suite("Memory of images from outside", .serialized, .onlyInFull, .timeLimit(.untilStuck))
struct ImageMemoryTests {
    private static let readers = 300
    private static let size = 6_500_000

    /// Returns the first and last bytes of a PNG around a body that differs between images.
    private static func body(_ number: Int) -> [UInt8] {
        let end: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size - 20) + end
    }

    @Test("The service releases image memory within seconds after 300 slow clients disconnect")
    func returned() async throws {
        try await offPool {
            let origin = try Origin { request, connection in
                let number = Int(request.path.dropFirst()) ?? 0
                connection.answer(200, ["Content-Type: image/png", "Cache-Control: max-age=3600"], body: Self.body(number))
            }
            defer { origin.stop() }
            let settings = ["images.worker-program=/none", "images.allowed-networks=127.0.0.1/32", "images.allowed-ports=\(origin.port)"]
            let users = (0..<Self.readers).map { number in
                #"{"kind":"user","id":"\#(number)","username":"A","avatarUrl":"\#(origin.url("/\(number)"))","type":"featured"}"# + "\n"
            }
            let service = try RunningService(items: users.joined(), settings: settings)
            var hrefs: [String] = []
            var next: String? = "/feed?limit=100"
            while let path = next {
                let page = try JSON(service.get(path).text)
                hrefs += page["cells"]?.list.compactMap { $0["actions"]?["configuration"]?["bindings"]?["avatar"]?["href"]?.text } ?? []
                next = page["page"]?["next"]?.text
            }
            try #require(hrefs.count == Self.readers)
            let before = service.process.residentKilobytes
            var clients: [RawClient] = []
            for (number, href) in hrefs.enumerated() {
                let client = try RawClient(port: service.port, from: "127.0.1.\(1 + number % 100)", receiveBuffer: 8_192)
                try client.send("GET \(href) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try client.bytes(within: 15_000)?.starts(with: "HTTP/1.1 200".utf8) == true)
                clients.append(client)
            }
            let crowded = service.process.residentKilobytes
            clients = []
            #expect(crowded > before + 128 * 1_024, "the readers needed no memory: \(before) KiB before, \(crowded) with them")
            // The margin is the size of the caches.
            try poll { service.process.residentKilobytes <= before + 128 * 1_024 }
        }
    }
}
