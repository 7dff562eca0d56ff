import Glibc
import IntertwineTesting
import TestSupport

/// A blocking client for tests of bytes and their order: it sends bytes and validates every response.
extension TestService {
    /// A client with a sent request and an unread response.
    func begin(_ path: String, by method: String = "GET", fields: [String] = []) throws -> RawClient {
        let client = try RawClient(port: port)
        try client.send(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nUser-Agent: tests\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        return client
    }

    func get(_ path: String, fields: [String] = []) throws -> RawResponse {
        try begin(path, fields: fields).response()
    }

    /// A request without a body and with any method.
    func ask(_ method: String, _ path: String, fields: [String] = []) throws -> RawResponse {
        try begin(path, by: method, fields: fields + ["Content-Length: 0"]).response(to: method)
    }

    func admin(_ method: String, _ path: String, fields: [String] = [], body: String = "") throws -> RawResponse {
        let client = try RawClient(port: operatorPort)
        let head = fields + ["Host: localhost", "Content-Length: \(body.utf8.count)", "Connection: close"]
        try client.send("\(method) \(path) HTTP/1.1\r\n" + head.map { $0 + "\r\n" }.joined() + "\r\n" + body)
        return try client.response(to: method)
    }

    /// The value of a metric by its printed name and labels.
    func metric(_ name: String) throws -> Int {
        let line = try admin("GET", "/metrics").text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }.map { Int($0) } ?? -1
    }

    /// Waits until a metric has a value.
    func reach(_ name: String, _ value: Int) throws { try reach(name, value...value) }

    /// Waits until a metric has one of several values. The service queues reads of its own, one at a time.
    func reach(_ name: String, _ values: ClosedRange<Int>) throws {
        while try !values.contains(metric(name)) { usleep(2_000) }
    }
}
