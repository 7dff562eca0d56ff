/// Bytes to send, and what has to come back.
public struct ConformanceCase: Sendable {
    public let id: String
    public let bytes: [UInt8]
    public let status: Int
    /// The server closes after its answer.
    public let closes: Bool
    /// What the body of the answer ends with.
    public var ending = ""

    init(_ id: String, _ text: String, _ status: Int, closes: Bool = false, ending: String = "") {
        self.init(id, Array(text.utf8), status, closes: closes, ending: ending)
    }

    init(_ id: String, _ bytes: [UInt8], _ status: Int, closes: Bool = false, ending: String = "") {
        self.id = id
        self.bytes = bytes
        self.status = status
        self.closes = closes
        self.ending = ending
    }

    /// Refused for good: the server closes.
    static func refused(_ id: String, _ text: String, _ status: Int = 400) -> ConformanceCase {
        ConformanceCase(id, text, status, closes: true)
    }

    /// For people.
    public var summary: String { "\(id): \(String(decoding: bytes.prefix(60), as: UTF8.self).debugDescription) → \(status)" }

    /// The method, for knowing whether the answer has a body.
    public var method: String { bytes.starts(with: Array("HEAD ".utf8)) ? "HEAD" : "GET" }

    /// A GET with these field lines, each without its CRLF.
    public static func get(_ fields: String...) -> String {
        "GET / HTTP/1.1\r\nHost: a\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// A chunked POST with this body, sent as it stands.
    static func chunked(_ body: String) -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body
    }

    /// A POST with these field lines and this body.
    static func post(_ fields: [String], _ body: String) -> String {
        "POST / HTTP/1.1\r\nHost: a\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body
    }
}
