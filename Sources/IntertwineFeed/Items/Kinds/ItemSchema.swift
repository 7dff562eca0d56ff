package import IntertwinePrimitives

/// Every kind ignores undeclared fields, so the schema allows them.
struct ItemSchemaDocument {
    private let kind: String
    private var properties: [JSONValue.Member]
    private var required: [JSONValue] = [.text("kind")]
    private var alternatives: [JSONValue] = []

    init(kind: String) {
        self.kind = kind
        properties = [.init("kind", .object([.init("const", .text(kind))]))]
        for name in ItemSchedule.names { add(name, name == "draft" ? .boolean : .moment) }
    }

    mutating func add(_ field: String, _ schema: FieldSchema, isRequired: Bool = false) {
        properties.append(.init(field, schema.value(isRequired: isRequired, mayBeEmpty: true)))
        if isRequired { required.append(.text(field)) }
    }

    mutating func addSubstitute(forIdentifier field: String) {
        let id = JSONValue.object([.init("type", .list([.text("string"), .text("integer")]))])
        let text = JSONValue.object([.init("pattern", .text(FieldSchema.identifierPattern))])
        alternatives = [
            .object([.init("properties", .object([.init("id", id)])), .init("required", .list([.text("id")]))]),
            .object([.init("properties", .object([.init(field, text)]))]),
        ]
    }

    var bytes: [UInt8] {
        var writer = JSONWriter(capacity: 2_048)
        writer.write(
            .object(
                [
                    .init("$schema", .text("https://json-schema.org/draft/2020-12/schema")), .init("title", .text(kind)),
                    .init("type", .text("object")), .init("properties", .object(properties)), .init("required", .list(required)),
                ] + (alternatives.isEmpty ? [] : [.init("anyOf", .list(alternatives))])))
        return writer.bytes
    }
}

package struct FieldSchema {
    var members: [JSONValue.Member]

    static func text(minimum: Int = 1, maximum: Int) -> FieldSchema {
        FieldSchema(members: [
            .init("type", .text("string")), .init("minLength", .integer(Int64(max(1, minimum)))),
            .init("maxLength", .integer(Int64(maximum))),
        ])
    }

    static func line(maximum: Int) -> FieldSchema {
        FieldSchema(members: text(maximum: maximum).members + [.init("pattern", .text("^[^\\u0001-\\u001F\\u007F]*$"))])
    }

    static let alternative = FieldSchema(members: [
        .init("type", .text("string")), .init("maxLength", .integer(Int64(ItemFields.alternativeLimit))),
    ])

    /// The schema of a URL as browsers read it. It accepts some texts that are no URL, because no pattern has all rules.
    static let url = FieldSchema(members: [
        .init("type", .text("string")), .init("minLength", .integer(1)), .init("maxLength", .integer(Int64(ItemURL.limit))),
        .init("pattern", .text("^[\\u0000-\\u0020]*(?:[Hh][Tt][Tt][Pp][Ss]?:|[/\\\\]{2})[/\\\\]*[^/\\\\?#@]+(?:[/\\\\?#]|$)")),
    ])

    static let trackers = FieldSchema(members: [
        .init("type", .text("array")), .init("maxItems", .integer(Int64(TrackerTemplate.limit))),
        .init(
            "items",
            .object(url.members)),
    ])

    static let date = FieldSchema(members: [.init("type", .text("string")), .init("pattern", .text(Timestamp.pattern))])

    static let moment = FieldSchema(members: [
        .init("type", .text("string")), .init("pattern", .text(Timestamp.pattern.dropLast(2) + "$")), .init("format", .text("date-time")),
    ])

    static let tags = FieldSchema(members: [
        .init("type", .text("array")), .init("items", .object(text(maximum: ItemFilter.textLimit).members)),
        .init("maxItems", .integer(Int64(FieldDeclaration.tagLimit))),
    ])

    static let boolean = FieldSchema(members: [.init("type", .text("boolean"))])

    static func number(isWhole: Bool = false, minimum: Double?, maximum: Double?) -> FieldSchema {
        var members: [JSONValue.Member] = [.init("type", .text(isWhole ? "integer" : "number"))]
        if let minimum { members.append(.init("minimum", .number(minimum))) }
        if let maximum { members.append(.init("maximum", .number(maximum))) }
        return FieldSchema(members: members)
    }

    func focused(by fields: [String]?) -> FieldSchema {
        guard let fields else { return self }
        return FieldSchema(members: members + [.init("x-focus", .list(fields.map { .text($0) }))])
    }

    func byLanguage(_ tags: [String]) -> FieldSchema {
        let texts = JSONValue.object([
            .init("type", .text("object")), .init("additionalProperties", .flag(false)),
            .init("properties", .object(tags.map { .init($0, value(isRequired: false, mayBeEmpty: true)) })),
            .init(
                "anyOf",
                .list(
                    tags.map { tag in
                        .object([
                            .init("properties", .object([.init(tag, .object(members))])), .init("required", .list([.text(tag)])),
                        ])
                    })),
        ])
        return FieldSchema(members: [.init("anyOf", .list([.object(members), texts]))])
    }

    /// `labels`: what people read in place of a word.
    package static func choice(_ words: [String], labels: [String: LocalizedText] = [:]) -> FieldSchema {
        let choices = JSONValue.Member("enum", .list(words.map { .text($0) }))
        let labeled = words.compactMap { word in labels[word].map { JSONValue.Member(word, .text($0[nil])) } }
        return FieldSchema(members: [choices] + (labeled.isEmpty ? [] : [.init("x-labels", .object(labeled))]))
    }

    fileprivate static let identifierPattern = "^(?!\\.{1,2}$)[^\\u0001-\\u001F\\u007F]*$"

    package static func identifier(limit: Int) -> FieldSchema {
        FieldSchema(members: [
            .init("type", .list([.text("string"), .text("integer")])), .init("minLength", .integer(1)),
            .init("maxLength", .integer(Int64(limit))), .init("pattern", .text(identifierPattern)),
        ])
    }

    package func value(isRequired: Bool, mayBeEmpty: Bool = false) -> JSONValue {
        guard !isRequired else { return .object(members) }
        let empty: [JSONValue] = mayBeEmpty ? [.object([.init("const", .text(""))])] : []
        return .object([.init("anyOf", .list([.object(members), .object([.init("type", .text("null"))])] + empty))])
    }
}

extension FieldDeclaration {
    package var schema: FieldSchema {
        switch type {
        case .text where !choices.isEmpty: .choice(choices, labels: choiceLabels)
        case .text where !languages.isEmpty:
            .text(minimum: Int(minimum ?? 1), maximum: Int(maximum ?? Self.usualTextLimit)).byLanguage(languages)
        case .text: .text(minimum: Int(minimum ?? 1), maximum: Int(maximum ?? Self.usualTextLimit))
        case .number: .number(isWhole: isWhole, minimum: minimum, maximum: maximum)
        case .date: .date
        case .url, .image: .url
        case .boolean: .boolean
        case .tags: .tags
        }
    }
}
