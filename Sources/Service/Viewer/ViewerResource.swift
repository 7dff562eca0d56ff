/// One file of the page that shows the feed in a browser, as the service serves it.
///
/// The files lie beside this one and are compiled into the binary, so that the service stays a single file.
struct ViewerResource: Sendable {
    /// Absolute path, such as `/viewer/main.mjs`; the page itself is at `/`.
    var path: String
    var contentType: String
    var bytes: [UInt8]

    /// The `Content-Security-Policy` of every file, the modules included: a worker is held to that of its own script.
    static let contentSecurityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    /// All files of the page.
    ///
    /// - Parameter viewerHeader: the request field that names the viewer; the page sends it with each of its requests.
    static func all(viewerHeader: String) -> [ViewerResource] {
        [page(viewerHeader: viewerHeader)] + files
    }

    private static func page(viewerHeader: String) -> ViewerResource {
        // The page names the default; every other name is put in its place. A field name is a token (RFC 9110 section 5.6.2),
        // of whose characters only these two mean something in an attribute.
        let name = viewerHeader.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
            .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "&quot;")
        let markup = String(decoding: PackageResources.index_html, as: UTF8.self)
            .split(separator: #"name="viewer-header" content="X-Viewer-ID""#, omittingEmptySubsequences: false)
            .joined(separator: #"name="viewer-header" content="\#(name)""#)
        return ViewerResource(path: "/", contentType: "text/html; charset=utf-8", bytes: Array(markup.utf8))
    }
}
