package import IntertwineItems
internal import IntertwineLedger

/// A kind of item that configuration declares. The store and the assembler treat it like a kind that is implemented in Swift.
///
/// The initializer resolves and validates all names of the declaration and compiles its templates.
package struct DeclaredKind: ItemKind {
    /// The maximum length of an id, in bytes.
    package static let idLimit = 512

    package let declaration: KindDeclaration
    let cells: [CellLayout: [DeclaredCell]]
    let screen: DeclaredScreen?
    let destination: FieldReference?
    let idField: FieldDeclaration?

    package var name: String { declaration.name }
    package var stream: StreamID { declaration.stream }
    /// The prefix of cell ids.
    package var prefix: String { declaration.prefix ?? declaration.name }

    /// Compiles a declaration.
    ///
    /// - Throws: ``KindError`` for the first error in the declaration.
    package init(_ declaration: KindDeclaration) throws(KindError) {
        let compiler = try KindCompiler(declaration)
        cells = try compiler.cells()
        screen = try compiler.screen()
        destination = try compiler.destination()
        idField = try compiler.idField()
        self.declaration = declaration
    }

    package var sortFields: [SortField] {
        declaration.fields.filter(\.isRequired).compactMap { field in
            switch field.type {
            // A text with several languages has no sort order.
            case .text where !field.languages.isEmpty: nil
            case .text: SortField(field.name, .text)
            case .number: SortField(field.name, .number)
            case .date: SortField(field.name, .date)
            case .url, .image, .boolean: nil
            }
        }
    }

    package var fields: [ItemField]? {
        let (variants, idField) = (declaration.variants, idField)
        let id = ItemField("id", isRequired: idField == nil) { fields throws(ItemError) in
            _ = try fields.optionalIdentifier("id", limit: Self.idLimit)
        }
        let type = ItemField("type", isRequired: !variants.isEmpty) { fields throws(ItemError) in
            if !variants.isEmpty { _ = try fields.choice("type", among: variants) }
        }
        return [id, type]
            + declaration.fields.map { field in
                ItemField(field.name, isRequired: field.isRequired) { fields throws(ItemError) in _ = try field.stored(in: fields) }
            }
    }

    /// - Throws: ``ItemError`` with the field and the reason.
    package func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let variant = declaration.variants.isEmpty ? "" : try fields.choice("type", among: declaration.variants)
        var body = ItemBody()
        var substitute: ArraySlice<UInt8>?
        for field in declaration.fields {
            body.append(field.name, literal: try field.stored(in: fields)?[...])
            if field == idField { substitute = try field.value(in: fields) }
        }
        let explicit = try fields.optionalIdentifier("id", limit: Self.idLimit)
        guard let id = explicit ?? substitute else { throw ItemError(field: "id", reason: "is missing", code: .required) }
        if explicit == nil, let idField { _ = try ItemFields.identifier(id, in: idField.name) }
        guard id.count <= Self.idLimit else {
            throw ItemError(field: idField?.name, reason: "is longer than \(Self.idLimit) bytes", code: .tooLong)
        }
        return ValidatedItem(kind: name, stream: stream, id: String(decoding: id, as: UTF8.self), variant: variant, body: body.finish())
    }
}
