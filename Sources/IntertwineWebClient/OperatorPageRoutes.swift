internal import HTTPTypes
internal import IntertwineHTTPServer
package import IntertwineRouting

/// The routes `GET /reports`, `GET /explain`, `GET /items` and their files: pages on the admin listener with plots of reports, explanations of
/// pages, and a form for items.
///
/// The files contain no data of the service and need no token. The pages ask the operator for the token and send it to the admin API.
package struct OperatorPageRoutes: Sendable {
    /// The paths that need no token.
    package static let paths = Set(files.map(\.resource.path))

    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors
        """

    private struct File {
        let resource: WebClientResource
        /// The origins that may embed the page. The web client has another origin; a page that it embeds can read and change nothing there.
        var ancestors = "'none'"
    }

    private static let files = [
        File(resource: page("/reports", PackageResources.reports_html)),
        File(
            resource: WebClientResource(
                path: "/reports/reports.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.reports_css)),
        File(resource: module("/reports/reports.mjs", PackageResources.reports_mjs)),
        File(resource: module("/reports/chart.mjs", PackageResources.chart_mjs)),
        File(resource: module("/reports/admin-api.mjs", PackageResources.admin_api_mjs)),
        File(resource: page("/items", PackageResources.items_html)),
        File(resource: module("/items/items.mjs", PackageResources.items_mjs)),
        File(resource: module("/items/item-form.mjs", PackageResources.item_form_mjs)),
        File(resource: page("/explain", PackageResources.explain_html), ancestors: "http: https:"),
        File(resource: module("/explain/explain.mjs", PackageResources.explain_mjs)),
    ]

    package init() {}

    package var routes: [Route] {
        Self.files.map { file in
            let content = WebClientRoutes.content(
                file.resource, policy: "\(Self.policy) \(file.ancestors)", route: file.resource.path)
            return Route(file.resource.path, encoded: { _ in content.response })
        }
    }

    private static func page(_ path: String, _ bytes: [UInt8]) -> WebClientResource {
        WebClientResource(path: path, contentType: "text/html; charset=utf-8", bytes: bytes)
    }

    private static func module(_ path: String, _ bytes: [UInt8]) -> WebClientResource {
        WebClientResource(path: path, contentType: "text/javascript; charset=utf-8", bytes: bytes)
    }
}
