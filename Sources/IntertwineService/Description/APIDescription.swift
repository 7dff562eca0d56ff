internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

struct APIDescription: Sendable {
    private static let cellPath = "/schemas/cell.json"
    static let schemaType = "application/schema+json"

    let routes: [Route]

    init(of routes: [Route], kinds: ItemKinds, viewerHeader: String, publicURL: String) {
        let cell = Route.content(
            Self.cellPath,
            APIOperation(
                "getCellSchema", tag: "Description", "The JSON Schema of a cell",
                "The schema `ViewModel` of this description as a document of its own (JSON Schema 2020-12).",
                parameters: [Parameter.ifNoneMatch],
                responses: ResponseDescription.negotiated + [
                    .json(
                        .ok, "A JSON Schema.", .document(having: ["$schema", "$id", "$defs"]),
                        [.pageCaching, .eTag, .vary, .contentEncoding], type: Self.schemaType,
                        example: #"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "/schemas/cell.json", "$defs": {}}"#)
                ]),
            type: Self.schemaType, Schema.cell.document(id: publicURL + Self.cellPath))
        let schemas = [cell, IdentifierSchemas(kinds: kinds, publicURL: publicURL).route]
        let name = FeedParameters.viewerField
        let described = routes.map { route in
            var route = route
            let hasForbidden = route.operation?.responses.contains { $0.status == ResponseDescription.foreignOrigin.status } ?? false
            if ![.get, .head].contains(route.method), !hasForbidden { route.operation?.responses.append(.foreignOrigin) }
            let readsViewer = route.operation?.responses.contains { $0.has(.untrustedViewer) } ?? false
            if readsViewer {
                let isLimited = route.operation?.responses.contains { $0.status == ResponseDescription.tooManyTokens.status } ?? false
                route.operation?.responses += isLimited ? [.unauthorized] : [.unauthorized, .tooManyTokens]
            }
            return route
        }
        @Sendable func amended(_ text: String) -> String {
            viewerHeader.isEmpty || viewerHeader == name ? text : text.replacing(name, with: viewerHeader)
        }
        self.routes = [Self.service.route(caching: .pageCaching, describing: described + schemas, amended: amended)] + schemas
    }

    static let service = OpenAPIDocument(
        title: "Intertwine", summary: "Feeds of ready-to-render cells, and the actions that people perform on them.",
        text: """
            Clients follow each `href` unchanged, and perform the slots of `actions` that they know. Hrefs are relative references; they \
            are absolute if the service has a public URL. Members, cell identifiers, action types, binding types and commands may be \
            added. Clients ignore unknown ones.

            Each path with `GET` supports `HEAD`. `OPTIONS` gets 204 with `Allow`. Other methods get 405 with `Allow`; methods that HTTP \
            does not define get 501. Paths outside this description get 404. All of these errors are `about:blank` problems.

            Every error is a problem (RFC 9457, `application/problem+json`). Its `type` names the kind of problem (`ProblemType`), or \
            is `about:blank` if the status is sufficient. `errors` names each invalid parameter, and each invalid value of a body by its \
            JSON Pointer. `instance` has the request's id.

            Responses of 1 KiB or more with an entity tag are compressed with gzip if the client accepts it; images are not. Every \
            response has `Date` and `X-Request-ID`, the id of the request in the log. `Content-Length`, `Transfer-Encoding`, \
            `Connection` and `Keep-Alive` follow HTTP/1.1.

            Web pages of the origins in `cors.origins` may call the service from a browser. The service answers their preflights. \
            Responses to them have `Access-Control-Allow-Origin`, `Access-Control-Expose-Headers` and `Vary: Origin`; with \
            `cors.credentials` also `Access-Control-Allow-Credentials: true`. `POST`, `PUT` and `DELETE` from web pages of other origins \
            get 403 (`foreign-origin`). Request bodies must be `application/json`; other or missing types get 415.
            """,
        tags: [
            ("Feed", "Pages of cells."), ("Actions", "Performing and undoing actions on cells, and reporting events."),
            ("Images", "The images of the cells, through the image proxy."), ("Operations", "Health checks for load balancers."),
            ("Description", "The description of the API and of its schemas."),
        ],
        responses: ResponseDescription.usual,
        token: "A JSON Web Token that names the viewer, if `viewers.jwt` has keys. The operations that read the viewer accept it.")
}
