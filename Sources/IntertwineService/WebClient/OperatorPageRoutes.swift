internal import HTTPTypes
internal import IntertwineHTTPServer

struct OperatorPageRoutes: Sendable {
    static let paths = Set(files.flatMap(paths))

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors
        """
    /// The form of an item shows its cells by the element of the web client.
    private static let files = WebClientFile.all.filter {
        $0.isOfOperators || ["look.css", "page-client.mjs", "icon.svg"].contains($0.name) || $0.name.hasPrefix("client/")
    }

    var routes: [Route] {
        Self.files.flatMap { file in
            Self.paths(file).map { path in
                // The web client has another origin and embeds the explanation; it can read and change nothing there.
                let ancestors = path == "/explain" ? "http: https:" : "'none'"
                let content = WebClientRoutes.content(file, file.bytes, policy: "\(Self.policy) \(ancestors)", route: path)
                return Route(path, encoded: { _ in content.response })
            }
        }
    }

    private static func paths(_ file: WebClientFile) -> [String] {
        switch file.name {
        case "items/items.html": ["/", "/items", "/takedowns"]
        case "console/console.html": ["/ads", "/corrections", "/preview", "/imports", "/sources", "/audit", "/viewers", "/system"]
        case "explain/explain.html": ["/explain"]
        case "reports/reports.html": ["/reports"]
        default: ["/\(file.name)"]
        }
    }
}
