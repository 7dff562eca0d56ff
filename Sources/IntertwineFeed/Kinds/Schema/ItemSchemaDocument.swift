/// The JSON Schema (2020-12) of one kind of item, written field by field.
///
/// Fields that nobody declares are ignored by every kind, so the schema allows them.
struct ItemSchemaDocument {
    private let kind: String
    private var properties: [ActionValue.Member]
    private var required: [ActionValue] = [.text("klass")]
    private var alternatives: [ActionValue] = []

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
        let id = ActionValue.object([.init("type", .list([.text("string"), .text("integer")]))])
        let text = ActionValue.object([.init("pattern", .text(FieldSchema.identifierPattern))])
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
