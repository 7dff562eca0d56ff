/// The service's description of itself: `openapi.json`, which lies beside this file and is compiled into the binary.
///
/// The document is the binding description of what clients may rely on. Tests hold it against the routes, the types and real answers.
struct APIDescription: Sendable {
    static let path = "/openapi.json"
    private static let viewerHeader = "X-Viewer-ID"

    /// The OpenAPI document, UTF-8.
    let document: [UInt8]
    let cellSchema: CellSchema

    /// - Parameters:
    ///   - viewerHeader: the request field that names the viewer; the document has the default's name, and gets this one. Empty where there is none:
    ///     the default's is then one that nobody reads.
    ///   - publicURL: what absolute hrefs begin with; empty for relative ones.
    /// - Throws: where the document is damaged, which tests rule out.
    init(viewerHeader: String, publicURL: String) throws {
        let text = String(decoding: PackageResources.openapi_json, as: UTF8.self)
        document = Array(
            (viewerHeader.isEmpty || viewerHeader == Self.viewerHeader ? text : text.replacing(Self.viewerHeader, with: viewerHeader)).utf8)
        cellSchema = try CellSchema(description: document, publicURL: publicURL)
    }
}
