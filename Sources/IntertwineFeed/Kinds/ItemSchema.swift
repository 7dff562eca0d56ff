internal import IntertwinePrimitives

/// The JSON Schema (2020-12) of one kind of item, written field by field.
///
/// Fields that nobody declares are ignored by every kind, so the schema allows them.
struct ItemSchemaDocument {
    private let kind: String
    private var properties: [JSONValue.Member]
    private var required: [JSONValue] = [.text("klass")]
    private var alternatives: [JSONValue] = []

    init(kind: String) {
        self.kind = kind
        properties = [.init("klass", .object([.init("const", .text(kind))]))]
    }

    mutating func add(_ field: String, _ schema: FieldSchema, isRequired: Bool = false) {
        properties.append(.init(field, schema.value(isRequired: isRequired)))
        if isRequired { required.append(.text(field)) }
    }

    /// An item without an id has this field's text for one.
    mutating func addSubstitute(forIdentifier field: String) {
        let id = JSONValue.object([.init("type", .list([.text("string"), .text("integer")]))])
        let text = JSONValue.object([.init("pattern", .text(FieldSchema.identifierPattern))])
        alternatives = [
            .object([.init("properties", .object([.init("id", id)])), .init("required", .list([.text("id")]))]),
            .object([.init("properties", .object([.init(field, text)]))]),
        ]
    }

    /// JSON, UTF-8.
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

/// What a field may hold, in the words of JSON Schema (2020-12).
struct FieldSchema {
    /// The members of the field's schema where it is present.
    var members: [JSONValue.Member]

    static func text(minimum: Int = 1, maximum: Int) -> FieldSchema { text(minimum, maximum, without: "\\u0000") }

    /// A text without control characters.
    static func line(maximum: Int) -> FieldSchema { text(1, maximum, without: "\\u0000-\\u001F\\u007F") }

    private static func text(_ minimum: Int, _ maximum: Int, without characters: String) -> FieldSchema {
        FieldSchema(members: [
            .init("type", .text("string")), .init("minLength", .integer(Int64(max(1, minimum)))),
            .init("maxLength", .integer(Int64(maximum))), .init("pattern", .text("^[^\(characters)]*$")),
        ])
    }

    /// What is told of a picture; empty for one that only adorns.
    static let alternative = FieldSchema(members: [
        .init("type", .text("string")), .init("maxLength", .integer(Int64(ItemFields.alternativeLimit))),
        .init("pattern", .text("^[^\\u0000]*$")),
    ])

    /// As ``ItemURL`` has it.
    static let url = FieldSchema(members: [
        .init("type", .text("string")), .init("format", .text("uri")), .init("maxLength", .integer(Int64(ItemURL.limit))),
        .init("pattern", .text(ItemURL.pattern)),
    ])

    /// As ``TrackerTemplate`` has them.
    static let trackers = FieldSchema(members: [
        .init("type", .text("array")), .init("maxItems", .integer(Int64(TrackerTemplate.limit))),
        .init(
            "items",
            .object([
                .init("type", .text("string")), .init("maxLength", .integer(Int64(ItemURL.limit))),
                .init("pattern", .text(TrackerTemplate.pattern)),
            ])),
    ])

    static let date = FieldSchema(members: [.init("type", .text("string")), .init("pattern", .text(Timestamp.pattern))])

    static let boolean = FieldSchema(members: [.init("type", .text("boolean"))])

    static func number(minimum: Double?, maximum: Double?) -> FieldSchema {
        FieldSchema(
            members: [.init("type", .text("number"))] + [minimum.map { .init("minimum", .number($0)) }].compactMap { $0 }
                + [maximum.map { .init("maximum", .number($0)) }].compactMap { $0 })
    }

    /// One text for all, or one for each of some languages.
    func byLanguage(_ tags: [String]) -> FieldSchema {
        let texts = JSONValue.object([
            .init("type", .text("object")), .init("minProperties", .integer(1)), .init("additionalProperties", .flag(false)),
            .init("properties", .object(tags.map { .init($0, .object(members)) })),
        ])
        return FieldSchema(members: [.init("anyOf", .list([.object(members), texts]))])
    }

    static func choice(_ words: [String]) -> FieldSchema {
        FieldSchema(members: [.init("enum", .list(words.map { .text($0) }))])
    }

    /// An id has no control characters, and is no dot segment of a path.
    fileprivate static let identifierPattern = "^(?!\\.{1,2}$)[^\\u0000-\\u001F\\u007F]*$"

    /// A string, or a whole number, which is the same as its decimal digits.
    static func identifier(limit: Int) -> FieldSchema {
        FieldSchema(members: [
            .init("type", .list([.text("string"), .text("integer")])), .init("minLength", .integer(1)),
            .init("maxLength", .integer(Int64(limit))), .init("pattern", .text(identifierPattern)),
        ])
    }

    /// The schema of the field. An optional one may be null as well as missing.
    func value(isRequired: Bool) -> JSONValue {
        guard !isRequired else { return .object(members) }
        return .object([.init("anyOf", .list([.object(members), .object([.init("type", .text("null"))])]))])
    }
}

extension DeclaredKind {
    /// What a valid item looks like, as a JSON Schema (2020-12).
    package func schema() -> [UInt8] {
        var document = ItemSchemaDocument(kind: name)
        document.add("id", .identifier(limit: Self.idLimit), isRequired: idField == nil)
        if !declaration.variants.isEmpty { document.add("type", .choice(declaration.variants), isRequired: true) }
        for field in declaration.fields { document.add(field.name, field.schema, isRequired: field.isRequired) }
        if let idField { document.addSubstitute(forIdentifier: idField.name) }
        return document.bytes
    }
}

extension FieldDeclaration {
    /// What its value may be.
    var schema: FieldSchema {
        switch type {
        case .text where !choices.isEmpty: .choice(choices)
        case .text where !languages.isEmpty:
            .text(minimum: Int(minimum ?? 1), maximum: Int(maximum ?? Self.usualTextLimit)).byLanguage(languages)
        case .text: .text(minimum: Int(minimum ?? 1), maximum: Int(maximum ?? Self.usualTextLimit))
        case .number: .number(minimum: minimum, maximum: maximum)
        case .date: .date
        case .url, .image: .url
        case .boolean: .boolean
        }
    }
}
