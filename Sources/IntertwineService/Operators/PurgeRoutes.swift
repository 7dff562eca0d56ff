internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages

struct PurgeRoutes: Sendable {
    let manager: ImageNetworkManager

    /// A request must have exactly one of them.
    private static let parameters: [any RequestParameter] = [
        Parameter.described(
            "url", .url, "The source URL of the image as in the item, percent-encoded.",
            example: #""https://pictures.example.com/tt.png""#),
        Parameter.described(
            "prefix", .url, "A prefix of source URLs that includes the whole host, such as `https://pictures.example.com/2026/`."),
        Parameter.described(
            "host", .string(maxLength: 253, pattern: #"^(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$"#),
            "A host, with any port. `*.example.com` means all subdomains."),
        Parameter.described("all", .boolean, "If true, all images are purged."),
    ]

    private static let names = ["url", "prefix", "host", "all"]
    private static let rule = "Exactly one of url, prefix, host and all=true is required."

    private static let leftOnDisk =
        "The images are purged from memory, but some files cannot be removed. The next start would load them again."

    var routes: [Route] {
        let operation = APIOperation(
            "purgeImages", tag: "Images", "Purge images",
            """
            The selected images are removed from memory and disk, in every format. Exactly one parameter selects them. The response is sent after the last \
            image is removed. The response is 503 if the folder of images prevents a removal. In that case, the images are not served until the next start.
            """,
            parameters: Self.parameters,
            responses: [
                .empty(.noContent, "The images are purged."),
                .badRequest(
                    """
                    The request has none of the parameters, more than one, or an invalid one; or it is malformed.
                    """, [.init(.invalidParameters(Self.names, .required, Self.rule))]),
                .forbidden,
                .problem(
                    .serviceUnavailable, "Some files cannot be removed, or the audit log cannot be written.",
                    [.init(nil, Self.leftOnDisk), .init(.storeUnavailable, "The audit log cannot be written, so nothing was done.")],
                    [.problemCaching, .retryAfter]),
            ])
        return [
            Route(.delete, "/admin/images", operation) { request in
                let selections = try Self.selections(request.query)
                try await AuditContext.begin()
                for selection in selections {
                    guard await manager.purge(selection) else {
                        throw Problem(.serviceUnavailable, nil, Self.leftOnDisk, fields: [.retryAfter: "10"])
                    }
                }
                return ServerResponse(status: .noContent)
            }
        ]
    }

    /// Exactly one of the four parameters is required. Why: a typing error in a request for one image must not purge all images.
    private static func selections(_ query: Query) throws -> [ImageSelection] {
        var found: [[ImageSelection]] = []
        for name in ["url", "prefix"] {
            guard let text = try query.text(name) else { continue }
            guard (try? ItemURL.absolute(Array(text.utf8)[...])) != nil else {
                throw Problem.invalidParameter(name, .invalid, "\(name) must be an absolute http or https URL, or the beginning of one.")
            }
            // An item may name a host from which no image can be fetched.
            found.append((try? FetchURL(text)).map { [name == "url" ? .source($0.text) : .prefix($0)] } ?? [])
        }
        if let text = try query.text("host") {
            guard text.utf8.count <= 253, let host = HostPattern(text) else {
                throw Problem.invalidParameter("host", .invalid, "host must be a name such as pictures.example.com, or *.example.com.")
            }
            found.append([.host(host)])
        }
        if try query.flag("all") { found.append([.all]) }
        guard found.count == 1 else { throw Problem.invalidParameters(names, found.isEmpty ? .required : .conflict, rule) }
        return found[0]
    }
}
