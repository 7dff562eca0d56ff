internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting

/// An answer as it is kept under an idempotency key: status and verdict, location, body, on a line each.
struct StoredAnswer: Hashable {
    let status: HTTPResponse.Status
    /// Nil where nothing was recorded.
    let verdict: Verdict?
    let location: String?
    let body: [UInt8]

    init(status: HTTPResponse.Status, verdict: Verdict?, location: String?, body: [UInt8]) {
        self.status = status
        self.verdict = verdict
        self.location = location
        self.body = body
    }

    /// - Throws: ``Problem`` (500) where the bytes are not an answer of ours.
    init(_ bytes: [UInt8]) throws(Problem) {
        let lines = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
        let words = (lines.first ?? []).split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        guard lines.count == 3, let code = words.first.flatMap({ Int($0) }), (200..<600).contains(code) else {
            throw Problem(.internalServerError, nil, "A kept answer cannot be read.")
        }
        verdict = words.dropFirst().first.flatMap { Verdict(rawValue: $0) }
        status = HTTPResponse.Status(code: code)
        location = lines[1].isEmpty ? nil : String(decoding: lines[1], as: UTF8.self)
        body = Array(lines[2])
    }

    var bytes: [UInt8] {
        let verdict = verdict.map { " \($0.rawValue)" } ?? ""
        return Array("\(status.code)\(verdict)\n\(location ?? "")\n".utf8) + body
    }

    var response: ServerResponse {
        let type = status.code < 400 ? "application/json" : ProblemDetails.mediaType
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        fields[.location] = location
        return ServerResponse(status: status, fields: fields, body: body)
    }
}
