import Testing

@testable import IntertwineHTTPServer

@Suite("Preferred media types")
struct AcceptHeaderTests {
    @Test(
        "A stream is selected by its own name, if no more specific range of the page weighs more (RFC 9110, 12.5.1)",
        arguments: [
            (nil, false), ("", false), ("*/*", false), ("text/*", false), ("text/event-stream", true), ("TEXT/Event-Stream", true),
            ("text/event-stream;q=0", false), ("text/event-stream;q=0.5, application/*", false),
            ("text/event-stream;q=0.5, application/*;q=0.4, */*", true),
            ("text/event-stream;q=0.5, application/json;q=0.4, application/*", true),
            ("text/event-stream;q=0.5, */*;q=0.6", false), ("text/event-stream, application/json", true),
        ] as [(String?, Bool)])
    func streams(field: String?, isStream: Bool) {
        #expect(AcceptHeader(field).asks(for: "text/event-stream", ratherThan: "application/json") == isStream)
    }
}
