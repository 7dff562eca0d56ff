internal import IntertwinePrimitives

/// What a field may hold, in the words of JSON Schema (2020-12).
struct FieldSchema {
    /// The members of the field's schema where it is present.
    var members: [ActionValue.Member]

    static func text(minimum: Int = 1, maximum: Int) -> FieldSchema {
        FieldSchema(members: [
            .init("type", .text("string")), .init("minLength", .integer(Int64(max(1, minimum)))),
            .init("maxLength", .integer(Int64(maximum))), .init("pattern", .text("^[^\\u0000]*$")),
        ])
    }

    /// As ``ItemURL`` has it.
    static let url = FieldSchema(members: [
        .init("type", .text("string")), .init("format", .text("uri")), .init("maxLength", .integer(Int64(ItemURL.limit))),
        .init("pattern", .text(ItemURL.pattern)),
    ])

    static let date = FieldSchema(members: [.init("type", .text("string")), .init("pattern", .text(Timestamp.pattern))])

    static let boolean = FieldSchema(members: [.init("type", .text("boolean"))])

    static func number(minimum: Double?, maximum: Double?) -> FieldSchema {
        FieldSchema(
            members: [.init("type", .text("number"))] + [minimum.map { .init("minimum", .number($0)) }].compactMap { $0 }
                + [maximum.map { .init("maximum", .number($0)) }].compactMap { $0 })
    }

    static func choice(_ words: [String]) -> FieldSchema {
        FieldSchema(members: [.init("enum", .list(words.map { .text($0) }))])
    }

    /// What an id must not have in it: control characters.
    static let identifierPattern = "^[^\\u0000-\\u001F\\u007F]*$"

    /// A string, or a whole number, which is the same as its decimal digits.
    static func identifier(limit: Int) -> FieldSchema {
        FieldSchema(members: [
            .init("type", .list([.text("string"), .text("integer")])), .init("minLength", .integer(1)),
            .init("maxLength", .integer(Int64(limit))), .init("pattern", .text(identifierPattern)),
        ])
    }

    /// The schema of the field. An optional one may be null as well as missing.
    func value(isRequired: Bool) -> ActionValue {
        guard !isRequired else { return .object(members) }
        return .object([.init("anyOf", .list([.object(members), .object([.init("type", .text("null"))])]))])
    }
}
