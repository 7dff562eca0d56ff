internal import HTTPServer
internal import HTTPTypes

/// An answer as it is kept under an idempotency key: status, location and body, on a line each.
struct StoredAnswer: Hashable {
    let status: HTTPResponse.Status
    let location: String?
    let body: [UInt8]

    init(status: HTTPResponse.Status, location: String?, body: [UInt8]) {
        self.status = status
        self.location = location
        self.body = body
    }

    /// - Throws: ``Problem`` (500) where the bytes are not an answer of ours.
    init(_ bytes: [UInt8]) throws(Problem) {
        let lines = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count == 3, let code = Int(String(decoding: lines[0], as: UTF8.self)), (200..<600).contains(code) else {
            throw Problem(.internalServerError, nil, "A kept answer cannot be read.")
        }
        status = HTTPResponse.Status(code: code)
        location = lines[1].isEmpty ? nil : String(decoding: lines[1], as: UTF8.self)
        body = Array(lines[2])
    }

    var bytes: [UInt8] {
        Array("\(status.code)\n\(location ?? "")\n".utf8) + body
    }

    var response: ServerResponse {
        let type = status.code < 400 ? "application/json" : ProblemDetails.mediaType
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        fields[.location] = location
        return ServerResponse(status: status, fields: fields, body: body)
    }
}
