internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct IdempotencyKeys: Sendable {
    /// The lifetime of a key in milliseconds.
    static let lifetime: Int64 = 24 * 3_600_000

    private static let field = Parameter.idempotencyKey

    private let clients: ClientReader
    private let secret: HMACSHA256
    private let formerSecret: HMACSHA256?

    init(clients: ClientReader, keys: SigningKeys) {
        self.clients = clients
        (secret, formerSecret) = Self.secrets(keys)
    }

    func key(of request: RouteRequest, viewer: String?) throws(Problem) -> IdempotencyKey? {
        guard let key = try request[Self.field] else { return nil }
        var digest = SHA256()
        for part in [request.head.method.rawValue, request.head.path ?? ""] { digest.update(data: Array(part.utf8) + [0]) }
        digest.update(data: request.request.body.bytes ?? [])
        let owner =
            viewer.map { "viewer\u{0}\($0)" } ?? "address\u{0}\(clients.address(of: request.head, from: request.request.peer.address))"
        return IdempotencyKey(
            scope: Self.scope(of: key, owner, secret), formerScope: formerSecret.map { Self.scope(of: key, owner, $0) },
            owner: viewer.map { Self.owner(of: $0, secret) }, key: key,
            fingerprint: Hexadecimal.text(digest.finalize()), expires: request.now + Self.lifetime)
    }

    static func owners(of viewer: String, _ keys: SigningKeys) -> [String] {
        let (secret, former) = secrets(keys)
        return [secret, former].compactMap { $0.map { owner(of: viewer, $0) } }
    }

    private static func owner(of viewer: String, _ secret: HMACSHA256) -> String {
        Hexadecimal.text(secret.code(of: "owner\u{0}\(viewer)".utf8))
    }

    private static func secrets(_ keys: SigningKeys) -> (HMACSHA256, former: HMACSHA256?) {
        func secret(_ key: SigningKey) -> HMACSHA256 { HMACSHA256(key: key.derived(for: SigningPurpose(rawValue: "idempotency"))) }
        return (secret(keys.current), (keys.next ?? keys.previous).map(secret))
    }

    /// Why: the store contains neither viewers nor addresses, and keys of one person cannot be linked.
    private static func scope(of key: String, _ owner: String, _ secret: HMACSHA256) -> String {
        Hexadecimal.text(secret.code(of: "\(key)\u{0}\(owner)".utf8))
    }
}

/// A response that is stored under an idempotency key: status and verdict, location, and body, one per line.
struct StoredResponse: Hashable {
    private let status: HTTPResponse.Status
    private let verdict: Verdict?
    private let location: String?
    private let language: String?
    private let body: [UInt8]

    init(status: HTTPResponse.Status, verdict: Verdict?, location: String? = nil, language: String? = nil, body: [UInt8]) {
        self.status = status
        self.verdict = verdict
        self.location = location
        self.language = language
        self.body = body
    }

    init(_ bytes: [UInt8]) throws(Problem) {
        let lines = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
        let words = (lines.first ?? []).split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
        guard lines.count == 3, let code = words.first.flatMap({ Int($0) }), (200..<600).contains(code) else {
            throw Problem(.internalServerError, nil, "A stored response cannot be read.")
        }
        verdict = words.dropFirst().first.flatMap { Verdict(rawValue: $0) }
        language = words.dropFirst(2).first
        status = HTTPResponse.Status(code: code)
        location = lines[1].isEmpty ? nil : String(decoding: lines[1], as: UTF8.self)
        body = Array(lines[2])
    }

    var bytes: [UInt8] {
        let language = language.map { " \($0)" } ?? ""
        // A hyphen replaces the absent verdict if a language follows.
        let verdict = verdict?.rawValue ?? (language.isEmpty ? nil : "-")
        return Array("\(status.code)\(verdict.map { " \($0)" } ?? "")\(language)\n\(location ?? "")\n".utf8) + body
    }

    func response(reportsVerdict: Bool = false) -> ServerResponse {
        let type = status.code < 400 ? "application/json" : Problem.mediaType
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        fields[.location] = location
        fields[.contentLanguage] = language
        if reportsVerdict { fields[.xVerdict] = verdict?.rawValue }
        return ServerResponse(status: status, fields: fields, body: body)
    }
}
