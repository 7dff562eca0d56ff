import Foundation

/// The rules that every response keeps, whatever it answers (RFC 9110, RFC 9112, RFC 9457).
public enum ResponseLint {
    /// What is wrong with a response that parsed, in words; empty where nothing is.
    public static func findings(in response: RawResponse, method: String) -> [String] {
        var findings: [String] = []
        func require(_ condition: Bool, _ finding: String) { if !condition { findings.append(finding) } }
        let (status, isFinal) = (response.status, response.status >= 200)
        if !isFinal {
            require(response.fields.isEmpty || status == 101, "1xx with fields")
            return findings
        }
        if status == 204 || status == 304 {
            require(response["transfer-encoding"] == nil, "\(status) with a transfer coding")
            if status == 204 { require(response["content-length"] == nil, "204 with a length") }
        }
        for name in [
            "date", "content-type", "etag", "location", "content-length", "last-modified", "content-encoding", "connection", "vary",
        ] {
            require(response.fields.count { $0.name.lowercased() == name } <= 1, "\(name) twice")
        }
        if status < 500 { require(response["date"] != nil, "no Date") }
        let date = response["date"].flatMap(order)
        if response["date"] != nil { require(date != nil, "Date is no IMF-fixdate") }
        if let modified = response["last-modified"], let date {
            require(order(modified).map { $0 <= date } ?? false, "Last-Modified is malformed or after Date")
        }
        if !response.body.isEmpty { require(response["content-type"] != nil, "a body without a type") }
        if status >= 400, !response.body.isEmpty { findings += problemFindings(response) }
        if response["content-encoding"] != nil {
            require(response["vary"]?.lowercased().contains("accept-encoding") ?? false, "coded without Vary")
        }
        if response["content-type"]?.hasPrefix("image/") ?? false {
            require(response["x-content-type-options"] == "nosniff", "an image without nosniff")
        }
        if let tag = response["etag"] {
            require(tag.hasSuffix("\"") && (tag.hasPrefix("\"") || tag.hasPrefix("W/\"")) && tag.count >= 2, "malformed ETag")
        }
        switch status {
        case 206: require(response["content-range"]?.hasPrefix("bytes ") ?? false, "206 without Content-Range")
        case 301, 302, 303, 307, 308: require(response["location"] != nil, "\(status) without Location")
        case 401: require(response["www-authenticate"] != nil, "401 without WWW-Authenticate")
        case 405: require(!(response["allow"] ?? "").isEmpty, "405 without Allow")
        case 416: require(response["content-range"]?.hasPrefix("bytes */") ?? false, "416 without Content-Range")
        case 429, 503: require(response["retry-after"] != nil, "\(status) without Retry-After")
        default: break
        }
        if let server = response["server"] { require(server.count <= 32, "a talkative Server field") }
        return findings
    }

    private static func problemFindings(_ response: RawResponse) -> [String] {
        guard response["content-type"] == "application/problem+json" else { return ["an error that is no problem details"] }
        guard let object = try? JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any],
            object["type"] is String, object["title"] is String, object["detail"] is String, let status = object["status"] as? Int
        else { return ["malformed problem details"] }
        guard status == response.status else { return ["problem details of another status"] }
        let naming = ["invalid-parameter", "invalid-body", "invalid-cursor", "unknown-client", "invalid-item", "invalid-operation"]
        let isNaming = naming.contains { object["type"] as? String == "/problems/\($0)" }
        return isNaming && (object["errors"] as? [Any] ?? []).isEmpty ? ["problem details without errors"] : []
    }

    /// A number that grows with the date; nil where the text is no IMF-fixdate.
    private static func order(_ text: String) -> Int? {
        let pattern = /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) (\w\w\w) (\d{4}) (\d\d):(\d\d):(\d\d) GMT/
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let match = text.wholeMatch(of: pattern), let month = months.firstIndex(of: String(match.2)) else { return nil }
        return Int("\(match.3)\(month + 10)\(match.1)\(match.4)\(match.5)\(match.6)")
    }
}
