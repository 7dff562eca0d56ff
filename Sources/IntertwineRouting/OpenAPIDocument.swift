internal import HTTPTypes
internal import IntertwineHTTPServer

/// A listener's description of itself (OpenAPI 3.1), made of its routes.
package struct OpenAPIDocument: Sendable {
    package struct Tag: Sendable {
        package let name: String
        package let text: String

        package init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
        }
    }

    package var title: String
    package var summary: String
    package var text: String
    package var tags: [Tag]
    /// What every operation may answer, besides what is its own.
    package var answers: [Answer]
    /// The text of a bearer token, where one may be asked for.
    package var token: String?

    package init(
        title: String, summary: String, text: String, tags: [Tag], answers: [Answer], token: String? = nil
    ) {
        self.title = title
        self.summary = summary
        self.text = text
        self.tags = tags
        self.answers = answers
        self.token = token
    }

    /// The route that answers the document, which describes these routes and this one.
    ///
    /// - Parameter amended: the document's text as it is to be.
    package func route(
        _ path: String, _ operation: APIOperation, describing routes: [Route], amended: (String) -> String = { $0 }
    ) -> Route {
        let itself = Route(.get, path, operation) { _ in ServerResponse(status: .noContent) }
        return .content(path, operation, type: RequestBodyDescription.json, Array(amended(json(of: routes + [itself])).utf8))
    }

    /// The document. Routes without an operation are no part of it.
    package func json(of routes: [Route]) -> String {
        var patterns: [String] = []
        for route in routes where route.operation != nil && !patterns.contains(route.pattern) { patterns.append(route.pattern) }
        let paths = patterns.map { pattern in
            DocumentValue.Member(
                pattern,
                .object(
                    routes.filter { $0.pattern == pattern }.compactMap { route in
                        route.operation.map { operation in
                            .init(route.method.rawValue.lowercased(), operation.value(common: answers))
                        }
                    }))
        }
        var writer = DocumentWriter { "#/components/\($0.rawValue)/" }
        writer.write(.object(paths))
        let kinds = routes.compactMap(\.operation).flatMap(\.answers).flatMap(\.problems) + answers.flatMap(\.problems)
        var components = writer.components().map { kind, members in
            DocumentValue.Member(kind.rawValue, .object(kind == .schemas ? Self.naming(kinds, in: members) : members))
        }
        if let token {
            let scheme = DocumentValue.object([
                .init("type", .text("http")), .init("scheme", .text("bearer")), .init("description", .text(token)),
            ])
            components.append(.init("securitySchemes", .object([.init("token", scheme)])))
        }
        var document = DocumentWriter { "#/components/\($0.rawValue)/" }
        document.write(.object(head + [.init("paths", .object(paths)), .init("components", .object(components))]))
        return document.text
    }

    private var head: [DocumentValue.Member] {
        [
            .init("openapi", .text("3.1.1")),
            .init(
                "info",
                .object([
                    .init("title", .text(title)), .init("version", .text("1")), .init("summary", .text(summary)),
                    .init("description", .text(text)),
                ])),
            .init("servers", .array([.object([.init("url", .text("/"))])])),
            .init("tags", .array(tags.map { .object([.init("name", .text($0.name)), .init("description", .text($0.text))]) })),
        ] + (token == nil ? [] : [.init("security", .array([.object([.init("token", .array([]))]), .object([])]))])
    }

    /// Those types of problem that the document's answers tell, told together: a client's author looks for them in one place.
    private static func naming(_ kinds: [Problem.Kind], in schemas: [DocumentValue.Member]) -> [DocumentValue.Member] {
        schemas.map { schema in
            guard schema.name == Schema.problemTypeName, case .object(let members) = schema.value else { return schema }
            let uris = Set(kinds.map(\.uri)).sorted()
            return .init(schema.name, .object(members + [.init("examples", .texts([ProblemDetails.plainType] + uris))]))
        }
    }
}
