import TestSupport

extension RunningService {
    static let token = "open-sesame-17-42"
    static let tokenSetting = "admin.token=\(token)"

    /// Sends one request to the operators' listener. The default `fields` have the token.
    func admin(
        _ method: String, _ path: String, fields: [String] = ["Authorization: Bearer \(token)"], body: String = ""
    ) throws -> RawResponse {
        try Self.ask(try RawClient(port: adminPort), method, path, fields: fields + ["Connection: close"], body: body)
    }

    /// Sends one request with the token and more fields.
    func admin(_ method: String, _ path: String, with more: [String], body: String = "") throws -> RawResponse {
        try admin(method, path, fields: ["Authorization: Bearer \(Self.token)"] + more, body: body)
    }

    var configurationFile: String { "\(folder)/empty.yaml" }
}
