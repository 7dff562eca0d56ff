extension DeclaredKind {
    /// What a valid item looks like, as a JSON Schema (2020-12).
    public func schema() -> [UInt8] {
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
        case .text: .text(minimum: Int(minimum ?? 1), maximum: Int(maximum ?? Self.usualTextLimit))
        case .number: .number(minimum: minimum, maximum: maximum)
        case .date: .date
        case .url, .image: .url
        case .boolean: .boolean
        }
    }
}
