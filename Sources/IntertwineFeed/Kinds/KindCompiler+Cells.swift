/// What a declaration's parts are made into.
extension KindCompiler {
    func cells() throws(KindFault) -> [CellLayout: [DeclaredCell]] {
        var compiled: [CellLayout: [DeclaredCell]] = [:]
        for layout in CellLayout.allCases {
            for (index, cell) in (declaration.cells[layout] ?? []).enumerated() {
                compiled[layout, default: []].append(try self.cell(cell, at: ["cells", layout.rawValue, "\(index)"]))
            }
            guard let cells = compiled[layout] else { continue }
            guard cells.contains(where: { $0.companion == nil }) else {
                throw KindFault(["cells", layout.rawValue], "a companion stands behind a first cell, and there is none")
            }
        }
        return compiled
    }

    func screen() throws(KindFault) -> DeclaredScreen? {
        guard let presentation = declaration.presentation else { return nil }
        guard !presentation.screen.isEmpty else { throw KindFault(["presentation"], "screen is missing") }
        return DeclaredScreen(
            type: presentation.type, screen: presentation.screen,
            arguments: try sources(presentation.arguments, at: ["presentation", "arguments"]).map { ($0.part, $0.source) })
    }

    func destination() throws(KindFault) -> FieldReference? {
        guard let name = declaration.destination else { return nil }
        let found = try reference(name, [.url], at: ["destination"])
        guard found.isRequired else {
            throw KindFault(["destination"], "'\(name)' must be a required field: declare it with required: true")
        }
        return found
    }

    func idField() throws(KindFault) -> FieldDeclaration? {
        guard let name = declaration.id else { return nil }
        guard let field = declaration.fields.first(where: { $0.name == name }), field.type == .text, field.isRequired else {
            let fitting = declaration.fields.filter { $0.type == .text && $0.isRequired }.map(\.name)
            throw KindFault(
                ["id"],
                "must be a required text field; "
                    + (fitting.isEmpty
                        ? "the kind has none: declare one under fields, as in `\(ItemFault.shown(name)): {type: text, required: true}`"
                        : "allowed: \(fitting.joined(separator: ", "))"))
        }
        return field
    }

    func cell(_ cell: CellDeclaration, at path: [String]) throws(KindFault) -> DeclaredCell {
        guard !cell.identifier.isEmpty, cell.identifier.utf8.count <= 128 else {
            throw KindFault(path, "identifier must have 1 to 128 bytes")
        }
        try check(cell.size, at: path + ["size"])
        if let companion = cell.companion { try Self.check(name: companion, at: path + ["companion"]) }
        var conditions: [CellCondition] = []
        for condition in cell.conditions { conditions.append(try self.condition(condition, at: path + ["when", condition.field])) }
        return DeclaredCell(
            identifier: cell.identifier, size: cell.size, conditions: conditions,
            bindings: try sources(cell.bindings, at: path + ["bind"]), companion: cell.companion)
    }

    private func check(_ size: SizeRule, at path: [String]) throws(KindFault) {
        let points = [size.size.width, size.size.height, size.minimum, size.maximum].compactMap { $0 }
        guard points.allSatisfy({ (1...10_000).contains($0) }) else { throw KindFault(path, "lengths are 1 to 10000 points") }
        guard (0.01...1).contains(size.fraction ?? 1) else { throw KindFault(path, "fraction must be 0.01 to 1") }
        guard (0.01...100).contains(size.aspectRatio ?? 1) else { throw KindFault(path, "aspect must be 0.01 to 100") }
        guard size.minimum ?? 0 <= size.maximum ?? .infinity else { throw KindFault(path, "min is greater than max") }
    }

    func condition(_ condition: FieldCondition, at path: [String]) throws(KindFault) -> CellCondition {
        let reference = try reference(condition.field, [], at: path)
        switch condition.test {
        case .present(let isPresent): return CellCondition(reference: reference, test: .present(isPresent))
        case .between(let minimum, let maximum):
            guard reference.type == .number else { throw KindFault(path, "only a number has min and max") }
            return CellCondition(reference: reference, test: .between(minimum ?? -.infinity, maximum ?? .infinity))
        case .anyOf(let texts):
            guard !texts.isEmpty else { throw KindFault(path, "a value is missing") }
            return CellCondition(reference: reference, test: try values(texts, of: reference, at: path))
        }
    }

    private func values(_ texts: [String], of reference: FieldReference, at path: [String]) throws(KindFault) -> CellCondition.Test {
        func allowed(_ words: String, _ wrong: String) -> KindFault {
            KindFault(path, "'\(ItemFault.shown(wrong))' is not allowed; allowed: \(words)")
        }
        var numbers: [Double] = []
        for text in texts {
            switch reference.type {
            case .number:
                guard let number = Double(text), number.isFinite else { throw allowed("a number", text) }
                numbers.append(number)
            case .boolean where !["true", "false"].contains(text): throw allowed("true, false", text)
            case .text where reference == .variant && !declaration.variants.contains(text):
                throw allowed(declaration.variants.joined(separator: ", "), text)
            case .text, .date, .url, .image, .boolean: break
            }
        }
        return reference.type == .number ? .numbers(numbers) : .texts(texts)
    }
}
