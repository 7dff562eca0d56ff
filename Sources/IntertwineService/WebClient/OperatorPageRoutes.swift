internal import HTTPTypes
internal import IntertwineHTTPServer

/// The routes `GET /reports`, `GET /explain`, `GET /items` and their files: pages on the admin listener with plots of reports, explanations of
/// pages, and a form for items.
///
/// The files contain no data of the service and need no token. The pages ask the operator for the token and send it to the admin API.
struct OperatorPageRoutes: Sendable {
    /// The paths that need no token.
    static let paths = Set(files.map(path))

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors
        """
    private static let files = WebClientFile.all.filter(\.isOfOperators)

    init() {}

    var routes: [Route] {
        Self.files.map { file in
            let path = Self.path(file)
            // The web client has another origin and embeds the explanation; it can read and change nothing there.
            let ancestors = path == "/explain" ? "http: https:" : "'none'"
            let content = WebClientRoutes.content(file, file.bytes, policy: "\(Self.policy) \(ancestors)", route: path)
            return Route(path, encoded: { _ in content.response })
        }
    }

    /// The page `reports/reports.html` is `/reports`.
    private static func path(_ file: WebClientFile) -> String {
        let folder = file.name.prefix { $0 != "/" }
        return file.name == "\(folder)/\(folder).html" ? "/\(folder)" : "/\(file.name)"
    }
}
