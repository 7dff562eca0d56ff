package import IntertwinePrimitives

extension FieldDeclaration {
    private static let inputLimit = 32

    static func error(in input: [FieldDeclaration]) -> String? {
        guard input.count <= inputLimit else { return "at most \(inputLimit) values" }
        for (index, field) in input.enumerated() {
            guard FieldDeclaration.isName(field.name) else {
                return "'\(ItemError.shown(field.name))' must be a letter followed by letters, digits, _ or -, 64 at most"
            }
            if input[..<index].contains(where: { $0.name == field.name }) { return "two values are named '\(field.name)'" }
            if let fault = field.boundsError { return "\(field.name): \(fault)" }
        }
        return nil
    }

    package static func schema(of input: [FieldDeclaration]) -> ByLanguage<JSONValue> {
        let properties = input.reduce(ByLanguage([] as [JSONValue.Member])) { properties, field in
            properties.combined(with: field.propertySchema) { $0 + [.init(field.name, $1)] }
        }
        let required = input.filter(\.isRequired).map { JSONValue.text($0.name) }
        return properties.map { properties in
            var members: [JSONValue.Member] = [.init("type", .text("object")), .init("properties", .object(properties))]
            if !required.isEmpty { members.append(.init("required", .list(required))) }
            return .object(members + [.init("additionalProperties", .flag(false))])
        }
    }

    private var propertySchema: ByLanguage<JSONValue> {
        let value = schema.value(isRequired: isRequired)
        guard let label, case .object(let members) = value else { return ByLanguage(value) }
        return label.map { .object([.init("title", .text($0))] + members) }
    }
}
