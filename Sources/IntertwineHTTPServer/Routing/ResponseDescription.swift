package import HTTPTypes
package import IntertwinePrimitives

package struct ResponseDescription: Sendable {
    package struct Header: Sendable {
        package var name: String
        var value: JSONValue

        package init(_ name: String, _ text: String, _ schema: Schema = .string, isRequired: Bool = false, example: String? = nil) {
            self.name = name
            value = .object(
                [
                    .init("description", .text(text)), isRequired ? .init("required", .flag(true)) : nil, .init("schema", schema.value),
                    example.map { .init("example", .text($0)) },
                ].compactMap { $0 })
        }

        package func named(_ component: String) -> Header {
            var field = self
            field.value = .object([Component.headers.reference(component, value)])
            return field
        }
    }

    package struct ProblemExample: Sendable {
        let kind: Problem.ProblemType?
        let detail: String
        let errors: [InvalidValue]
        let members: [UInt8]
        let name: String?

        package var uri: String { kind?.uri ?? Problem.plainType }

        package init(_ kind: Problem.ProblemType?, _ detail: String, name: String? = nil, members: String = "") {
            (self.kind, self.detail, self.name, errors, self.members) = (kind, detail, name, [], Array(members.utf8))
        }

        package init(_ problem: Problem, name: String? = nil) {
            (kind, detail, self.name) = (problem.kind, problem.detail, name)
            (errors, members) = (problem.errors, problem.members)
        }

        fileprivate func details(_ status: HTTPResponse.Status) -> Problem {
            var problem = Problem(status, kind, detail, errors: errors)
            problem.members = members
            return problem
        }
    }

    package let status: String
    let value: JSONValue
    let problems: [Problem.ProblemType]
    private var extended: (@Sendable ([ProblemExample], String) -> ResponseDescription)?

    private init(_ status: String, _ text: String, _ fields: [Header], content: JSONValue?, problems: [Problem.ProblemType] = []) {
        self.status = status
        self.problems = problems
        value = .object(
            [
                .init("description", .text(text)),
                fields.isEmpty ? nil : .init("headers", .object(fields.map { .init($0.name, $0.value) })),
                content.map { .init("content", $0) },
            ].compactMap { $0 })
    }

    private init(_ status: String, value: JSONValue, problems: [Problem.ProblemType]) {
        self.status = status
        self.value = value
        self.problems = problems
    }

    package func has(_ kind: Problem.ProblemType) -> Bool { problems.contains(kind) }

    package static func empty(_ status: HTTPResponse.Status, _ text: String, _ fields: [Header] = []) -> ResponseDescription {
        ResponseDescription(String(status.code), text, fields, content: nil)
    }

    package static func json(
        _ status: HTTPResponse.Status, _ text: String, _ schema: Schema, _ fields: [Header] = [], type: String = "application/json",
        orTexts texts: [String] = [], example: String? = nil
    ) -> ResponseDescription {
        let others = texts.map { JSONValue.Member($0, .object([.init("schema", Schema.string.value)])) }
        return ResponseDescription(
            String(status.code), text, fields, content: .object([.init(type, Content(schema, example: example).value)] + others))
    }

    /// Describes a response with one of several problems (RFC 9457).
    package static func problem(
        _ status: HTTPResponse.Status, _ text: String, _ problems: [ProblemExample], _ fields: [Header] = [.noStore], types: Schema? = nil,
        members: [JSONValue.Member] = []
    ) -> ResponseDescription {
        let code = status.code
        let uris = problems.map(\.uri)
        let words = uris.enumerated().filter { index, uri in !uris[..<index].contains(uri) }.map(\.element)
        let type = types ?? Schema.words(words)
        let examples = problems.map { problem in
            let details = problem.details(status)
            return JSONValue.Member(
                problem.name ?? problem.kind?.rawValue ?? details.title.lowercased().replacing(" ", with: "-"),
                .object([.init("value", .example(String(decoding: details.json(), as: UTF8.self)))]))
        }
        let schema = Schema.problem.with(
            "properties",
            .object([.init("type", type.value), .init("status", Schema.any.with("const", .integer(Int64(code))).value)] + members))
        let content = JSONValue.object([.init("schema", schema.value), .init("examples", .object(examples))])
        // If request fields select the responses of a resource, its problems carry `Vary` as well.
        let fields = fields.contains { $0.name == "Vary" } ? fields : fields + [.problemVary]
        var description = ResponseDescription(
            String(code), text, fields, content: .object([.init(Problem.mediaType, content)]), problems: problems.compactMap(\.kind))
        description.extended = { more, sentence in
            problem(status, "\(text) \(sentence)", problems + more, fields, types: types, members: members)
        }
        return description
    }

    package func adding(_ problems: [ProblemExample], _ sentence: String) -> ResponseDescription { extended?(problems, sentence) ?? self }

    package static func otherProblems(_ text: String, _ fields: [Header], example: Problem) -> ResponseDescription {
        let content = Content(.problem, example: String(decoding: example.json(), as: UTF8.self)).value
        return ResponseDescription("default", text, fields, content: .object([.init(Problem.mediaType, content)]))
    }

    package func linked(_ name: String, to operation: String, _ text: String, _ parameters: KeyValuePairs<String, String>)
        -> ResponseDescription
    {
        guard case .object(let members) = value else { return self }
        let link = JSONValue.object([
            .init("description", .text(text)), .init("operationId", .text(operation)),
            .init("parameters", .object(parameters.map { .init($0, .text($1)) })),
        ])
        return ResponseDescription(status, value: .object(members + [.init("links", .object([.init(name, link)]))]), problems: problems)
    }

    package func named(_ name: String) -> ResponseDescription {
        var description = ResponseDescription(status, value: .object([Component.responses.reference(name, value)]), problems: problems)
        description.extended = extended
        return description
    }
}

struct Content: Sendable {
    private let schema: Schema
    private let example: String?

    init(_ schema: Schema, example: String?) {
        self.schema = schema
        self.example = example
    }

    var value: JSONValue {
        .object([.init("schema", schema.value), example.map { .init("example", .example($0)) }].compactMap { $0 })
    }
}

extension Schema {
    private static let problemType = Schema.href.titled("Problem type").described(
        "A URI that names the kind of problem; `x-explanations` explains each. `about:blank` if the status is sufficient."
    )
    .named(problemTypeName)
    static let problemTypeName = "ProblemType"

    package static let problem = Schema.object([
        .required("type", problemType),
        .required("title", .string(minLength: 1), "A short name of the type, equal for every occurrence."),
        .required("status", .integer(minimum: 400, maximum: 599), "The status of the response."),
        .required("detail", .string(minLength: 1), "The error in this request, for the client's author. Programs read `errors`."),
        .optional(
            "instance", .uri,
            "The request: `urn:intertwine:request:` and its id in the access log. Missing if no route received the request."),
        .optional("errors", .list(of: invalidValue, minimum: 1), "The invalid values, in every problem of invalid parameters or bodies."),
    ]).described("The reason why a request failed (RFC 9457).").named("Problem")

    private static let invalidValue = Schema.object([
        .optional("parameter", .string(minLength: 1), "The name of the query parameter, path variable or header field."),
        .optional(
            "pointer", .string(pattern: "^(/([^~]|~[01])*)?$"),
            "A JSON Pointer into the body (RFC 6901), in place of `parameter`. The empty pointer is the whole body."),
        .required("code", .words(InvalidValue.Code.self), "The kind of error. The list is closed."),
        .required("detail", .string(minLength: 1), "The error, for the client's author."),
    ]).titled("Invalid value").described("An invalid value of a request.").named("InvalidValue")
}
