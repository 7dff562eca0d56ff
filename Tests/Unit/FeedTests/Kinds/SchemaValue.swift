import Foundation

/// A JSON value, and the subset of JSON Schema (2020-12) that the schemas of kinds use.
enum SchemaValue: Decodable, Hashable {
    case null, flag(Bool), number(Double), text(String), list([SchemaValue]), object([String: SchemaValue])

    init(_ json: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(SchemaValue.self, from: Data(json))
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([SchemaValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: SchemaValue].self))
        }
    }

    subscript(name: String) -> SchemaValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// Whether a schema admits the value. An unknown keyword admits no value, so that no schema passes unchecked.
    func isValid(under schema: SchemaValue) -> Bool {
        guard case .object(let keywords) = schema else { return false }
        return keywords.allSatisfy { keyword, argument in
            switch (keyword, argument, self) {
            case ("$schema", _, _), ("title", _, _), ("format", _, _): true
            case ("type", .text(let type), _): isType(type)
            case ("type", .list(let types), _): types.contains { if case .text(let type) = $0 { isType(type) } else { false } }
            case ("const", _, _): self == argument
            case ("enum", .list(let values), _): values.contains(self)
            case ("anyOf", .list(let schemas), _): schemas.contains { isValid(under: $0) }
            case ("minLength", .number(let count), .text(let text)): Double(text.unicodeScalars.count) >= count
            case ("maxLength", .number(let count), .text(let text)): Double(text.unicodeScalars.count) <= count
            case ("pattern", .text(let pattern), .text(let text)): Self.matches(text, pattern)
            case ("minimum", .number(let bound), .number(let number)): number >= bound
            case ("maximum", .number(let bound), .number(let number)): number <= bound
            case ("maxItems", .number(let count), .list(let values)): Double(values.count) <= count
            case ("items", _, .list(let values)): values.allSatisfy { $0.isValid(under: argument) }
            case ("required", .list(let names), .object(let members)):
                names.allSatisfy { if case .text(let name) = $0 { members[name] != nil } else { false } }
            case ("properties", .object(let schemas), .object(let members)):
                schemas.allSatisfy { name, schema in members[name]?.isValid(under: schema) ?? true }
            case ("minProperties", .number(let count), .object(let members)): Double(members.count) >= count
            case ("additionalProperties", .flag(false), .object(let members)):
                if case .object(let known)? = keywords["properties"] {
                    members.keys.allSatisfy { known[$0] != nil }
                } else {
                    members.isEmpty
                }
            case ("minProperties", _, _), ("additionalProperties", _, _), ("minLength", _, _), ("maxLength", _, _), ("pattern", _, _),
                ("minimum", _, _), ("maximum", _, _), ("required", _, _),
                ("properties", _, _), ("maxItems", _, _), ("items", _, _):
                true
            default: false
            }
        }
    }

    private func isType(_ type: String) -> Bool {
        switch (type, self) {
        case ("null", .null), ("boolean", .flag), ("number", .number), ("string", .text), ("array", .list), ("object", .object): true
        case ("integer", .number(let number)): number == number.rounded()
        default: false
        }
    }

    /// ECMA-262 is not multiline by default, so `$` is the end of the text; in ICU that is `\z`.
    private static func matches(_ text: String, _ pattern: String) -> Bool {
        let pattern = pattern.hasSuffix("$") ? pattern.dropLast() + "\\z" : pattern
        return text.range(of: pattern, options: .regularExpression) != nil
    }
}
