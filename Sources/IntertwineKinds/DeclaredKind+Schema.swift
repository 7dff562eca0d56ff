internal import IntertwineItems

extension DeclaredKind {
    /// Returns the JSON Schema (2020-12) of a valid item.
    package func schema() -> [UInt8] {
        var document = ItemSchemaDocument(kind: name)
        document.add("id", .identifier(limit: Self.idLimit), isRequired: idField == nil)
        if !declaration.variants.isEmpty { document.add("type", .choice(declaration.variants), isRequired: true) }
        for field in declaration.fields { document.add(field.name, field.schema, isRequired: field.isRequired) }
        if let idField { document.addSubstitute(forIdentifier: idField.name) }
        return document.bytes
    }
}
