package import IntertwinePrimitives

package struct Schema: Sendable {
    private var members: [JSONValue.Member]

    private init(_ members: [JSONValue.Member?]) {
        self.members = members.compactMap { $0 }
    }

    package var value: JSONValue { .object(members) }

    // MARK: Kinds of value

    package static let any = Schema([])

    package static func string(
        minLength: Int? = nil, maxLength: Int? = nil, pattern: String? = nil, format: String? = nil
    ) -> Schema {
        Schema([
            .init("type", .text("string")), format.map { .init("format", .text($0)) },
            minLength.map { .init("minLength", .integer(Int64($0))) },
            maxLength.map { .init("maxLength", .integer(Int64($0))) }, pattern.map { .init("pattern", .text($0)) },
        ])
    }

    package static let string = string()
    package static let uri = string(format: "uri")
    package static let date = string(format: "date")
    package static let time = string(format: "date-time")
    package static let uuid = string(format: "uuid")
    package static let href = string(minLength: 1, format: "uri-reference")
    package static let boolean = Schema([.init("type", .text("boolean"))])

    package static func integer(minimum: Int? = nil, maximum: Int? = nil) -> Schema {
        Schema([
            .init("type", .text("integer")), minimum.map { .init("minimum", .integer(Int64($0))) },
            maximum.map { .init("maximum", .integer(Int64($0))) },
        ])
    }

    package static let integer = integer()
    package static let count = integer(minimum: 0)

    package static func number(minimum: Double? = nil, maximum: Double? = nil, above: Double? = nil) -> Schema {
        Schema([
            .init("type", .text("number")), minimum.map { .init("minimum", .number($0)) },
            maximum.map { .init("maximum", .number($0)) }, above.map { .init("exclusiveMinimum", .number($0)) },
        ])
    }

    package static let number = number()

    package static func words(_ words: [String]) -> Schema {
        Schema([.init("type", .text("string")), .init("enum", .texts(words))])
    }

    package static func words(_ type: (some CaseIterable & RawRepresentable<String>).Type) -> Schema {
        words(type.allCases.map(\.rawValue))
    }

    package static func word(_ word: String) -> Schema { Schema([.init("type", .text("string")), .init("const", .text(word))]) }

    /// Returns a schema of one Boolean value, written so that generators produce a plain Boolean type.
    package static func flag(_ flag: Bool) -> Schema { boolean.with("not", .object([.init("const", .flag(!flag))])) }

    package static func list(of element: Schema, minimum: Int? = nil, maximum: Int? = nil, isUnique: Bool = false) -> Schema {
        Schema([
            .init("type", .text("array")), minimum.map { .init("minItems", .integer(Int64($0))) },
            maximum.map { .init("maxItems", .integer(Int64($0))) },
            isUnique ? .init("uniqueItems", .flag(true)) : nil, .init("items", element.value),
        ])
    }

    package static func choice(_ schemas: [Schema]) -> Schema {
        Schema([.init("oneOf", .list(schemas.map(\.value)))])
    }

    // MARK: Objects

    package struct Property: Sendable {
        fileprivate let name: String
        fileprivate let schema: Schema
        fileprivate let isRequired: Bool

        package static func required(_ name: String, _ schema: Schema, _ text: String? = nil) -> Property {
            Property(name: name, schema: text.map { schema.described($0) } ?? schema, isRequired: true)
        }

        package static func optional(_ name: String, _ schema: Schema, _ text: String? = nil) -> Property {
            Property(name: name, schema: text.map { schema.described($0) } ?? schema, isRequired: false)
        }
    }

    package static func object(_ properties: [Property], others: Schema? = nil, isClosed: Bool = false) -> Schema {
        let required = properties.filter(\.isRequired).map(\.name)
        return Schema([
            .init("type", .text("object")), required.isEmpty ? nil : .init("required", .texts(required)),
            properties.isEmpty ? nil : .init("properties", .object(properties.map { .init($0.name, $0.schema.value) })),
            others.map { .init("additionalProperties", $0.value) } ?? (isClosed ? .init("additionalProperties", .flag(false)) : nil),
        ])
    }

    package static func map(of schema: Schema) -> Schema { object([], others: schema) }

    package static func document(having members: [String]) -> Schema {
        object(members.map { .required($0, .any) })
    }

    // MARK: Annotations

    package func described(_ text: String) -> Schema { with("description", .text(text)) }

    package func titled(_ title: String) -> Schema { with("title", .text(title)) }

    package func examples(_ examples: String...) -> Schema { with("examples", .list(examples.map { .example($0) })) }

    func defaulting(to value: JSONValue) -> Schema { with("default", value) }

    package var orNull: Schema {
        var schema = self
        for index in schema.members.indices where schema.members[index].name == "type" {
            if case .text(let type) = schema.members[index].value { schema.members[index].value = .texts([type, "null"]) }
        }
        return schema
    }

    var allowsNull: Bool {
        members.contains { member in
            if case .list(let types) = member.value, member.name == "type" { types.contains(.text("null")) } else { false }
        }
    }

    package func with(_ name: String, _ value: JSONValue) -> Schema {
        var schema = self
        schema.members.removeAll { $0.name == name }
        schema.members.append(.init(name, value))
        return schema
    }

    package func named(_ name: String) -> Schema {
        var schema = self
        let titled = members.contains { $0.name == "title" } ? self : Schema([.init("title", .text(name))] + members)
        schema.members = [Component.schemas.reference(name, titled.value)]
        return schema
    }

    package func document(id: String) -> [UInt8] {
        var collector = ComponentCollector { "#/$defs/\($1)" }
        let own = members.map { JSONValue.Member($0.name, $0.value) }
        guard case .object(let resolved) = collector.resolved(.object(own)) else { return [] }
        let head = [
            JSONValue.Member("$schema", .text("https://json-schema.org/draft/2020-12/schema")), .init("$id", .text(id)),
        ]
        let definitions = collector.components(.schemas)
        return JSONValue.object(head + resolved + (definitions.isEmpty ? [] : [.init("$defs", .object(definitions))])).json
    }

    package static func reference(_ name: String, _ json: [UInt8]) -> Schema {
        Schema([Component.schemas.reference(name, .example(String(decoding: json, as: UTF8.self)))])
    }

    package init(_ value: JSONValue) {
        if case .object(let members) = value { self.members = members } else { members = [] }
    }
}
