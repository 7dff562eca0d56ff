/// What a route is for, said to whoever calls it: what it takes and what it answers.
package struct APIOperation: Sendable {
    /// Unique within a listener; generated clients name their functions by it.
    package var id: String
    package var tag: String
    package var summary: String
    /// Markdown; nil where the summary says it all.
    package var text: String?
    package var parameters: [any RequestParameter]
    package var body: RequestBodyDescription?
    /// Its own answers. What every operation of a listener may answer is said once, of the listener.
    package var answers: [Answer]

    package init(
        _ id: String, tag: String, _ summary: String, _ text: String? = nil, parameters: [any RequestParameter] = [],
        body: RequestBodyDescription? = nil, answers: [Answer]
    ) {
        self.id = id
        self.tag = tag
        self.summary = summary
        self.text = text
        self.parameters = parameters
        self.body = body
        self.answers = answers
    }

    /// - Parameter common: the answers that it shares with others, but for the statuses of its own.
    func value(common: [Answer]) -> DocumentValue {
        let statuses = Set(answers.map(\.status))
        let all = (answers + common.filter { !statuses.contains($0.status) }).sorted { $0.status < $1.status }
        return .object(
            [
                .init("operationId", .text(id)), .init("tags", .texts([tag])), .init("summary", .text(summary)),
                text.map { .init("description", .text($0)) },
                parameters.isEmpty ? nil : .init("parameters", .array(parameters.map(\.description.value))),
                body.map { .init("requestBody", $0.value) },
                .init("responses", .object(all.map { .init($0.status, $0.value) })),
            ].compactMap { $0 })
    }
}

/// The body that a request has, in one or more media types.
package struct RequestBodyDescription: Sendable {
    package static let json = "application/json"

    let text: String?
    let isRequired: Bool
    private let contents: [(type: String, content: Content)]

    package init(_ schema: Schema, text: String? = nil, isRequired: Bool = true, example: String? = nil) {
        self.init(text, isRequired: isRequired, [(Self.json, Content(schema, example: example))])
    }

    private init(_ text: String?, isRequired: Bool, _ contents: [(String, Content)]) {
        self.text = text
        self.isRequired = isRequired
        self.contents = contents
    }

    /// The same content in another media type.
    package func or(_ type: String, _ schema: Schema, example: String) -> RequestBodyDescription {
        RequestBodyDescription(text, isRequired: isRequired, contents + [(type, Content(schema, example: example))])
    }

    var value: DocumentValue {
        .object(
            [
                text.map { .init("description", .text($0)) }, .init("required", .flag(isRequired)),
                .init("content", .object(contents.map { .init($0.type, $0.content.value) })),
            ].compactMap { $0 })
    }
}
