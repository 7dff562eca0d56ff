internal import HTTPTypes
internal import IntertwineHTTPServer

/// The routes `GET /reports`, `GET /explain`, `GET /items` and their files: pages on the admin listener with plots of reports, explanations
/// of pages, and a form for items.
struct OperatorPageRoutes: Sendable {
    static let paths = Set(files.map(path))

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors
        """
    private static let files = WebClientFile.all.filter(\.isOfOperators)

    var routes: [Route] {
        Self.files.map { file in
            let path = Self.path(file)
            // The web client has another origin and embeds the explanation; it can read and change nothing there.
            let ancestors = path == "/explain" ? "http: https:" : "'none'"
            let content = WebClientRoutes.content(file, file.bytes, policy: "\(Self.policy) \(ancestors)", route: path)
            return Route(path, encoded: { _ in content.response })
        }
    }

    private static func path(_ file: WebClientFile) -> String {
        let folder = file.name.prefix { $0 != "/" }
        return file.name == "\(folder)/\(folder).html" ? "/\(folder)" : "/\(file.name)"
    }
}
