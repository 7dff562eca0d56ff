internal import Crypto
internal import HTTPServer
internal import HTTPTypes

/// Who may ask the operators' listener: whoever has the token, or where there is none, whoever can reach the loopback address.
struct OperatorAccess: Sendable {
    private let digest: SHA256Digest?

    /// - Parameter token: empty for none.
    init(token: String) {
        digest = token.isEmpty ? nil : SHA256.hash(data: Array(token.utf8))
    }

    /// Nil where the request may pass.
    func refusal(of request: HTTPRequest) -> Problem? {
        guard let digest else { return refusalOfPage(request) }
        guard let given = Self.token(in: request) else {
            return Problem(.unauthorized, nil, "A bearer token is required.", fields: [.wwwAuthenticate: #"Bearer realm="intertwine""#])
        }
        // Digests are compared in constant time, and of equal length whatever was sent.
        guard SHA256.hash(data: Array(given.utf8)) == digest else {
            return Problem(
                .unauthorized, nil, "The bearer token is not valid.",
                fields: [.wwwAuthenticate: #"Bearer realm="intertwine", error="invalid_token""#])
        }
        return nil
    }

    /// How the audit log names whoever asks: by the beginning of the token's digest, which tells tokens apart and gives none away.
    var name: String {
        guard let digest else { return "loopback" }
        return "token:" + digest.prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Without a token a web page in an operator's browser must not be able to write: browsers say where such a request comes from.
    private func refusalOfPage(_ request: HTTPRequest) -> Problem? {
        guard request.method != .get, request.method != .head, request.headerFields[.origin] != nil else { return nil }
        return Problem(.forbidden, nil, "Requests from web pages are not taken without a token.")
    }

    private static func token(in request: HTTPRequest) -> String? {
        let fields = request.headerFields[values: .authorization]
        guard fields.count == 1, let field = fields.first else { return nil }
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        // One blank or more (RFC 9110 section 11.4).
        return String(parts[1].drop { $0 == " " })
    }
}
