import TestSupport

extension RunningService {
    static let token = "open-sesame-17-42"
    static let tokenSetting = "admin.token=\(token)"

    /// One request to the operators' listener, with the token unless `fields` say otherwise.
    func admin(
        _ method: String, _ path: String, fields: [String] = ["Authorization: Bearer \(token)"], body: String = ""
    ) throws -> RawResponse {
        try Self.ask(try RawClient(port: adminPort), method, path, fields: fields + ["Connection: close"], body: body)
    }

    /// The same with more fields than the token.
    func admin(_ method: String, _ path: String, with more: [String], body: String = "") throws -> RawResponse {
        try admin(method, path, fields: ["Authorization: Bearer \(Self.token)"] + more, body: body)
    }

    var configurationFile: String { "\(folder)/empty.yaml" }
}
