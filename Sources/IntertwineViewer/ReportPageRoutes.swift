internal import HTTPTypes
internal import IntertwineHTTPServer
package import IntertwineRouting

/// `GET /reports` and its files: the page on the operators' listener that plots what their API counts. The files hold nothing of anybody's,
/// and are given without a token: the page asks for it, and asks the API with it.
package struct ReportPageRoutes: Sendable {
    /// What nobody needs a token for.
    package static let paths = Set(files.map(\.path))

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
        frame-ancestors 'none'
        """

    private static let files: [ViewerResource] = [
        ViewerResource(path: "/reports", contentType: "text/html; charset=utf-8", bytes: PackageResources.reports_html),
        ViewerResource(path: "/reports/reports.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.reports_css),
        ViewerResource(path: "/reports/reports.mjs", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.reports_mjs),
        ViewerResource(path: "/reports/chart.mjs", contentType: "text/javascript; charset=utf-8", bytes: PackageResources.chart_mjs),
    ]

    package init() {}

    package var routes: [Route] {
        Self.files.map { file in
            let finished = FinishedResponse(ViewerRoutes.response(file, policy: Self.policy), compressionLevel: 6, route: file.path)
            return Route(.get, file.path) { _ in ServerResponse(finished) }
        }
    }
}
