/// Finds what a declaration names, and checks it.
struct KindCompiler {
    private static let nameLimit = 64

    let declaration: KindDeclaration
    /// Everything that bindings, conditions and templates can name, in the order of the declaration.
    let references: [(name: String, reference: FieldReference)]

    /// - Throws: ``KindFault`` where names, types or fields are wrong.
    init(_ declaration: KindDeclaration) throws(KindFault) {
        self.declaration = declaration
        var references: [(name: String, reference: FieldReference)] = [("id", .id)]
        if !declaration.variants.isEmpty { references.append(("type", .variant)) }
        references += declaration.fields.map { ($0.name, .field($0)) }
        self.references = references
        try Self.check(name: declaration.name, at: [])
        if let prefix = declaration.prefix { try Self.check(name: prefix, at: ["prefix"]) }
        for (index, variant) in declaration.variants.enumerated() {
            guard !variant.isEmpty, variant.utf8.count <= Self.nameLimit else {
                throw KindFault(["types", "\(index)"], "a type must have 1 to \(Self.nameLimit) bytes")
            }
            guard !declaration.variants[..<index].contains(variant) else {
                throw KindFault(["types", "\(index)"], "'\(variant)' stands there twice")
            }
        }
        try checkFields()
        guard declaration.cells.values.contains(where: { !$0.isEmpty }) else {
            throw KindFault(["cells"], "a kind needs a cell in one layout at least; layouts are collection, table")
        }
    }

    private func checkFields() throws(KindFault) {
        for (index, field) in declaration.fields.enumerated() {
            let path = ["fields", field.name]
            try Self.check(name: field.name, at: path)
            guard !["klass", "id", "type"].contains(field.name) else {
                throw KindFault(path, "every item has its own '\(field.name)'; a field cannot be called so")
            }
            guard !declaration.fields[..<index].contains(where: { $0.name == field.name }) else {
                throw KindFault(path, "two fields are called '\(field.name)'")
            }
            if let fault = field.boundsFault { throw KindFault(path, fault) }
        }
    }

    /// Letters, digits, underscores and hyphens, beginning with a letter: a name that needs no quoting anywhere.
    static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        let isPlain = bytes.allSatisfy { byte in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") <= 9 || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-")
        }
        guard let first = bytes.first else { return false }
        return (first | 0x20) &- UInt8(ascii: "a") < 26 && isPlain && bytes.count <= nameLimit
    }

    static func check(name: String, at path: [String]) throws(KindFault) {
        guard isName(name) else {
            throw KindFault(
                path, "'\(ItemFault.shown(name))' must be a letter followed by letters, digits, _ or -, \(nameLimit) at most")
        }
    }

    /// - Parameter types: what the field may hold; any where it is empty.
    func reference(_ name: String, _ types: [FieldType], at path: [String]) throws(KindFault) -> FieldReference {
        let fitting = references.filter { types.isEmpty || types.contains($0.reference.type) }
        let wanted = types.map(\.rawValue).joined(separator: " or ")
        let shown = ItemFault.shown(name)
        let allowed =
            fitting.isEmpty
            ? "the kind has no field of the type \(wanted): declare one under fields, as in `\(shown): \(types.first?.rawValue ?? "text")`"
            : "allowed: \(fitting.map(\.name).joined(separator: ", "))"
        guard let found = references.first(where: { $0.name == name })?.reference else {
            throw KindFault(path, "unknown field '\(shown)'; \(allowed)")
        }
        guard types.isEmpty || types.contains(found.type) else {
            throw KindFault(path, "'\(shown)' is of the type \(found.type.rawValue), and \(wanted) is wanted here; \(allowed)")
        }
        return found
    }
}
