internal import HTTPTypes
internal import IntertwinePrimitives

package struct OpenAPIDocument: Sendable {
    package typealias Tag = (name: String, text: String)

    package var title: String
    package var summary: String
    package var text: String
    package var tags: [Tag]
    package var responses: [ResponseDescription]
    package var token: String?

    package init(
        title: String, summary: String, text: String, tags: [Tag], responses: [ResponseDescription], token: String? = nil
    ) {
        self.title = title
        self.summary = summary
        self.text = text
        self.tags = tags
        self.responses = responses
        self.token = token
    }

    private static let path = "/openapi.json"

    private static func operation(caching: ResponseDescription.Header) -> APIOperation {
        APIOperation(
            "getDescription", tag: "Description", "This description", parameters: [Parameter.ifNoneMatch],
            responses: ResponseDescription.negotiated + [
                .json(
                    .ok, "An OpenAPI 3.1 document.", .document(having: ["openapi", "info", "paths"]),
                    [caching, .eTag, .vary, .contentEncoding],
                    example: #"{"openapi": "3.1.1", "info": {"title": "Intertwine", "version": "1"}, "paths": {}}"#)
            ])
    }

    package func route(
        caching: ResponseDescription.Header, describing routes: [Route], amended: @escaping @Sendable (String) -> String = { $0 }
    ) -> Route {
        let (path, operation) = (Self.path, Self.operation(caching: caching))
        let itself = Route(.get, path, operation) { _ in ServerResponse(status: .noContent) }
        return .content(path, operation, type: RequestBodyDescription.json, Array(amended(json(of: routes + [itself])).utf8))
    }

    package func json(of routes: [Route]) -> String {
        var patterns: [String] = []
        for route in routes where route.operation != nil && !patterns.contains(route.pattern) { patterns.append(route.pattern) }
        let paths = patterns.map { pattern in
            JSONValue.Member(
                pattern,
                .object(
                    routes.filter { $0.pattern == pattern }.compactMap { route in
                        route.operation.map { operation in
                            .init(route.method.rawValue.lowercased(), operation.value(common: responses))
                        }
                    }))
        }
        var collector = ComponentCollector { "#/components/\($0)/\($1)" }
        let resolved = collector.resolved(.object(paths))
        let kinds = routes.compactMap(\.operation).flatMap(\.responses).flatMap(\.problems) + responses.flatMap(\.problems)
        var components = Component.allCases.compactMap { kind -> JSONValue.Member? in
            let members = collector.components(kind)
            guard !members.isEmpty else { return nil }
            return .init(
                kind.rawValue,
                .object(kind == .schemas ? Self.naming(kinds, in: members) : members))
        }
        if let token {
            let scheme = JSONValue.object([
                .init("type", .text("http")), .init("scheme", .text("bearer")), .init("description", .text(token)),
            ])
            components.append(.init("securitySchemes", .object([.init("token", scheme)])))
        }
        let document = JSONValue.object(head + [.init("paths", resolved), .init("components", .object(components))])
        return String(decoding: document.json, as: UTF8.self)
    }

    private var head: [JSONValue.Member] {
        [
            .init("openapi", .text("3.1.1")),
            .init(
                "info",
                .object([
                    .init("title", .text(title)), .init("version", .text("1")), .init("summary", .text(summary)),
                    .init("description", .text(text)),
                ])),
            .init("servers", .list([.object([.init("url", .text("/"))])])),
            .init("tags", .list(tags.map { .object([.init("name", .text($0.name)), .init("description", .text($0.text))]) })),
        ] + (token == nil ? [] : [.init("security", .list([.object([.init("token", .list([]))]), .object([])]))])
    }

    /// Adds the problem types of the document's responses to the schema of problem types, so that client authors find them in one location.
    private static func naming(_ kinds: [Problem.ProblemType], in schemas: [JSONValue.Member]) -> [JSONValue.Member] {
        schemas.map { schema in
            guard schema.name == Schema.problemTypeName, case .object(let members) = schema.value else { return schema }
            let kinds = Set(kinds).sorted { $0.uri < $1.uri }
            let explanations = kinds.map { JSONValue.Member($0.uri, .text($0.explanation)) }
            return .init(
                schema.name,
                .object(
                    members + [
                        .init("examples", .texts([Problem.plainType] + kinds.map(\.uri))), .init("x-explanations", .object(explanations)),
                    ]))
        }
    }
}

package struct APIOperation: Sendable {
    package var id: String
    package var tag: String
    package var summary: String
    package var text: String?
    package var parameters: [any RequestParameter]
    package var body: RequestBodyDescription?
    package var responses: [ResponseDescription]

    package init(
        _ id: String, tag: String, _ summary: String, _ text: String? = nil, parameters: [any RequestParameter] = [],
        body: RequestBodyDescription? = nil, responses: [ResponseDescription]
    ) {
        self.id = id
        self.tag = tag
        self.summary = summary
        self.text = text
        self.parameters = parameters
        self.body = body
        self.responses = responses
    }

    func value(common: [ResponseDescription]) -> JSONValue {
        let statuses = Set(responses.map(\.status))
        let all = (responses + common.filter { !statuses.contains($0.status) }).sorted { $0.status < $1.status }
        return .object(
            [
                .init("operationId", .text(id)), .init("tags", .texts([tag])), .init("summary", .text(summary)),
                text.map { .init("description", .text($0)) },
                parameters.isEmpty ? nil : .init("parameters", .list(parameters.map(\.description.value))),
                body.map { .init("requestBody", $0.value) },
                .init("responses", .object(all.map { .init($0.status, $0.value) })),
            ].compactMap { $0 })
    }
}

package struct RequestBodyDescription: Sendable {
    package static let json = "application/json"

    private let text: String?
    private let isRequired: Bool
    private let contents: [(type: String, content: Content)]

    package init(_ schema: Schema, text: String? = nil, isRequired: Bool = true, example: String? = nil) {
        self.init(text, isRequired: isRequired, [(Self.json, Content(schema, example: example))])
    }

    private init(_ text: String?, isRequired: Bool, _ contents: [(String, Content)]) {
        self.text = text
        self.isRequired = isRequired
        self.contents = contents
    }

    package func or(_ type: String, _ schema: Schema, example: String) -> RequestBodyDescription {
        RequestBodyDescription(text, isRequired: isRequired, contents + [(type, Content(schema, example: example))])
    }

    var value: JSONValue {
        .object(
            [
                text.map { .init("description", .text($0)) }, .init("required", .flag(isRequired)),
                .init("content", .object(contents.map { .init($0.type, $0.content.value) })),
            ].compactMap { $0 })
    }
}
