internal import HTTPTypes
internal import IntertwineHTTPServer
package import IntertwineRouting

/// `GET /reports`, `GET /explain` and their files: the pages on the operators' listener that plot what their API counts, and say why a cell stands
/// where it does. The files hold nothing of anybody's, and are given without a token: the pages ask for it, and ask the API with it.
package struct OperatorPageRoutes: Sendable {
    /// What nobody needs a token for.
    package static let paths = Set(files.map(\.resource.path))

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors
        """

    private struct File {
        let resource: WebClientResource
        /// Which pages may show it within them. The viewer is of another origin, and what it shows there reads and changes nothing.
        var ancestors = "'none'"
    }

    private static let files = [
        File(resource: page("/reports", PackageResources.reports_html)),
        File(
            resource: WebClientResource(
                path: "/reports/reports.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.reports_css)),
        File(resource: module("/reports/reports.mjs", PackageResources.reports_mjs)),
        File(resource: module("/reports/chart.mjs", PackageResources.chart_mjs)),
        File(resource: page("/explain", PackageResources.explain_html), ancestors: "http: https:"),
        File(resource: module("/explain/explain.mjs", PackageResources.explain_mjs)),
    ]

    package init() {}

    package var routes: [Route] {
        Self.files.map { file in
            let content = WebClientRoutes.content(
                file.resource, policy: "\(Self.policy) \(file.ancestors)", route: file.resource.path)
            return Route(.get, file.resource.path) { _ in ServerResponse(content.response) }
        }
    }

    private static func page(_ path: String, _ bytes: [UInt8]) -> WebClientResource {
        WebClientResource(path: path, contentType: "text/html; charset=utf-8", bytes: bytes)
    }

    private static func module(_ path: String, _ bytes: [UInt8]) -> WebClientResource {
        WebClientResource(path: path, contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }
}
