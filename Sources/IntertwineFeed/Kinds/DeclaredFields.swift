/// A kind of item that consists of fields: its validation, its schema and its sort fields, without cells.
package struct DeclaredFields: ItemKind {
    static let idLimit = 512

    package let name: String
    package let stream: StreamID
    package let variants: [String]
    package let declarations: [FieldDeclaration]
    var idField: FieldDeclaration?
    /// The number fields with the point of an image, by its field: editors set the point on the picture.
    var focus: [String: [String]] = [:]

    package init(
        name: String, prefix: String? = nil, stream: StreamID = .content, variants: [String] = [], fields: [FieldDeclaration]
    ) throws(KindError) {
        (self.name, self.stream, self.variants, declarations) = (name, stream, variants, fields)
        try Self.check(name: name, at: [])
        if let prefix { try Self.check(name: prefix, at: ["prefix"]) }
        for (index, variant) in variants.enumerated() {
            guard !variant.isEmpty, variant.utf8.count <= FieldDeclaration.nameLimit else {
                throw KindError(["types", "\(index)"], "a type must have 1 to \(FieldDeclaration.nameLimit) bytes")
            }
            guard !variants[..<index].contains(variant) else { throw KindError(["types", "\(index)"], "'\(variant)' occurs twice") }
        }
        let reserved = ItemSchedule.names + (stream == .advertisements ? [HouseField.name] : [])
        for (index, field) in fields.enumerated() {
            let path = ["fields", field.name]
            try Self.check(name: field.name, at: path)
            guard !(["kind", "id", "type"] + reserved).contains(field.name) else {
                throw KindError(path, "'\(field.name)' is reserved: every item \(reserved.contains(field.name) ? "may have" : "has") it")
            }
            guard !fields[..<index].contains(where: { $0.name == field.name }) else {
                throw KindError(path, "two fields are named '\(field.name)'")
            }
            if let fault = field.boundsError { throw KindError(path, fault) }
        }
    }

    static func check(name: String, at path: [String]) throws(KindError) {
        guard FieldDeclaration.isName(name) else {
            throw KindError(
                path,
                "'\(ItemError.shown(name))' must be a letter followed by letters, digits, _ or -, \(FieldDeclaration.nameLimit) at most")
        }
    }

    package var sortFields: [SortField] {
        declarations.filter(\.isRequired).compactMap { field in
            switch field.type {
            // A text with several languages has no sort order.
            case .text where !field.languages.isEmpty: nil
            case .text: SortField(field.name, .text)
            case .number: SortField(field.name, .number)
            case .date: SortField(field.name, .date)
            case .url, .image, .boolean, .tags: nil
            }
        }
    }

    package var fields: [ItemField]? {
        let (variants, idField) = (variants, idField)
        let id = ItemField("id", isRequired: idField == nil) { fields throws(ItemError) in
            _ = try fields.optionalIdentifier("id", limit: Self.idLimit)
        }
        let type = ItemField("type", isRequired: !variants.isEmpty) { fields throws(ItemError) in
            if !variants.isEmpty { _ = try fields.choice("type", among: variants) }
        }
        return [id, type]
            + declarations.map { field in
                ItemField(field.name, isRequired: field.isRequired) { fields throws(ItemError) in _ = try field.stored(in: fields) }
            } + (stream == .advertisements ? [HouseField.field] : [])
    }

    package func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let variant = variants.isEmpty ? "" : try fields.choice("type", among: variants)
        var body = ItemBody()
        var substitute: ArraySlice<UInt8>?
        for field in declarations {
            body.append(field.name, literal: try field.stored(in: fields)?[...])
            if field == idField { substitute = try field.value(in: fields) }
        }
        let explicit = try fields.optionalIdentifier("id", limit: Self.idLimit)
        guard let id = explicit ?? substitute else { throw ItemError(field: "id", reason: "is missing", code: .required) }
        if explicit == nil, let idField { _ = try ItemFields.identifier(id, in: idField.name) }
        guard id.count(where: { $0 & 0xC0 != 0x80 }) <= Self.idLimit else {
            throw ItemError(field: idField?.name, reason: "is longer than \(Self.idLimit) characters", code: .tooLong)
        }
        return ValidatedItem(kind: name, stream: stream, id: String(decoding: id, as: UTF8.self), variant: variant, body: body.finish())
    }

    package func schema() -> [UInt8] {
        var document = ItemSchemaDocument(kind: name)
        document.add("id", .identifier(limit: Self.idLimit), isRequired: idField == nil)
        if !variants.isEmpty { document.add("type", .choice(variants), isRequired: true) }
        for field in declarations {
            document.add(field.name, field.schema.focused(by: focus[field.name]), isRequired: field.isRequired)
        }
        if stream == .advertisements { document.add(HouseField.name, .boolean) }
        if let idField { document.addSubstitute(forIdentifier: idField.name) }
        return document.bytes
    }
}
