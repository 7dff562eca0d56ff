internal import HTTPTypes
internal import IntertwinePrimitives

/// An S3 bucket with path-style URLs (`https://host/bucket/key`).
package struct S3Bucket: Sendable {
    package struct Credentials: Sendable {
        var accessKey: String
        var secret: String
        var token: String?

        package init(accessKey: String, secret: String, token: String? = nil) {
            self.accessKey = accessKey
            self.secret = secret
            self.token = token
        }
    }

    private let endpoint: FetchURL
    private let region: String
    private let credentials: Credentials?

    package init(endpoint: FetchURL, region: String, credentials: Credentials?) {
        self.endpoint = endpoint
        self.region = region
        self.credentials = credentials
    }

    func url(of key: String) throws(FetchError) -> FetchURL {
        let segments = key.split(separator: "/", omittingEmptySubsequences: false).map { PercentCoding.encode(String($0)) }
        return try FetchURL(endpoint.text + segments.joined(separator: "/"))
    }

    func fields(for url: FetchURL, now: Int64) -> HTTPFields {
        var fields = HTTPFields()
        guard let credentials else { return fields }
        let moment = Timestamp.text(milliseconds: now * 1_000).filter { $0 != "-" && $0 != ":" }
        for (name, value) in [
            ("x-amz-content-sha256", Self.hashOfNothing), ("x-amz-date", moment), ("x-amz-security-token", credentials.token),
        ] {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        let signed = [("host", Self.host(url))] + fields.map { ($0.name.canonicalName, $0.value) }
        fields[.authorization] = Self.authorization(credentials, region, path: Self.path(url), signed, moment)
        return fields
    }

    static func authorization(
        _ credentials: Credentials, _ region: String, path: String, _ fields: [(name: String, value: String)], _ moment: String
    ) -> String {
        let sorted = fields.sorted { $0.name < $1.name }
        let names = sorted.map(\.name).joined(separator: ";")
        let list = sorted.map { "\($0.name):\($0.value)\n" }.joined()
        let request = "GET\n\(path)\n\n\(list)\n\(names)\n\(hashOfNothing)"
        let day = String(moment.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(moment)\n\(scope)\n" + Hexadecimal.text(SHA256.hash(data: Array(request.utf8)))
        var key = Array("AWS4\(credentials.secret)".utf8)
        for part in [day, region, "s3", "aws4_request", text] {
            key = Array(HMACSHA256(key: key).code(of: part.utf8))
        }
        let signature = Hexadecimal.text(key)
        return "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
    }

    private static let hashOfNothing = Hexadecimal.text(SHA256.hash(data: [UInt8]()))

    private static func host(_ url: FetchURL) -> String {
        let rest = url.text.drop { $0 != "/" }.dropFirst(2)
        return String(rest.prefix { $0 != "/" && $0 != "?" })
    }

    private static func path(_ url: FetchURL) -> String {
        let rest = url.text.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" && $0 != "?" }
        let path = rest.prefix { $0 != "?" }
        return path.isEmpty ? "/" : String(path)
    }
}
