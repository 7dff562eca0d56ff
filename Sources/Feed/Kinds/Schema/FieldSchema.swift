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
        .init("pattern", .text(urlPattern)),
    ])

    static let date = FieldSchema(members: [.init("type", .text("string")), .init("pattern", .text(DateText.pattern))])

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

    /// Scheme; host, or an address in brackets; port up to 65535; the rest. Nothing that could end a URL early, and no user name.
    private static let urlPattern =
        "^[Hh][Tt][Tt][Pp][Ss]?://(?:[!$-.0-9;=A-Z^-~]+|\\[[0-9A-Fa-f:.]{2,}\\])"
        + "(?::(?:0*(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?)?"
        + "(?:[/?#][!#-;=?-\\[\\]^-~]*)?$"
}
