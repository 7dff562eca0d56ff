struct KindCompiler {
    private let declaration: KindDeclaration
    let record: DeclaredFields
    private let references: [(name: String, reference: FieldReference)]

    init(_ declaration: KindDeclaration) throws(KindError) {
        self.declaration = declaration
        record = try DeclaredFields(
            name: declaration.name, prefix: declaration.prefix, stream: declaration.stream, variants: declaration.variants,
            fields: declaration.fields)
        var references: [(name: String, reference: FieldReference)] = [("id", .id)]
        if !declaration.variants.isEmpty { references.append(("type", .variant)) }
        references += (declaration.fields + declaration.lists.compactMap(\.countField)).map { ($0.name, .field($0)) }
        if let reason = declaration.reasonField { references.append(("reason", .field(reason))) }
        self.references = references
        guard declaration.cells.values.contains(where: { !$0.isEmpty }) else {
            throw KindError(["cells"], "a kind needs a cell in at least one layout; layouts: collection, table")
        }
    }

    private func reference(_ name: String, _ types: [FieldType], at path: [String]) throws(KindError) -> FieldReference {
        let fitting = references.filter { types.isEmpty || types.contains($0.reference.type) }
        let wanted = types.map(\.rawValue).joined(separator: " or ")
        let shown = ItemError.shown(name)
        let allowed =
            fitting.isEmpty
            ? "the kind has no field of the type \(wanted): declare one under fields, as in `\(shown): \(types.first?.rawValue ?? "text")`"
            : "allowed: \(fitting.map(\.name).joined(separator: ", "))"
        guard let found = references.first(where: { $0.name == name })?.reference else {
            throw KindError(path, "unknown field '\(shown)'; \(allowed)")
        }
        guard types.isEmpty || types.contains(found.type) else {
            throw KindError(path, "'\(shown)' is of the type \(found.type.rawValue), but \(wanted) is expected; \(allowed)")
        }
        return found
    }
}

extension KindCompiler {
    func cells() throws(KindError) -> [CellLayout: [DeclaredCell]] {
        var compiled: [CellLayout: [DeclaredCell]] = [:]
        for layout in CellLayout.allCases {
            for (index, cell) in (declaration.cells[layout] ?? []).enumerated() {
                compiled[layout, default: []].append(try self.cell(cell, at: ["cells", layout.rawValue, "\(index)"]))
            }
            guard let cells = compiled[layout] else { continue }
            guard cells.contains(where: { $0.companion == nil }) else {
                throw KindError(["cells", layout.rawValue], "a companion stands behind a first cell, which is missing")
            }
        }
        return compiled
    }

    func screen() throws(KindError) -> DeclaredScreen? {
        guard let presentation = declaration.presentation else { return nil }
        guard !presentation.screen.isEmpty else { throw KindError(["presentation"], "screen is missing") }
        return DeclaredScreen(
            type: presentation.type, screen: presentation.screen,
            arguments: try sources(presentation.arguments, at: ["presentation", "arguments"]).map { ($0.part, $0.source) })
    }

    func destination() throws(KindError) -> FieldReference? {
        try declaration.destination.map { (name) throws(KindError) in try reference(name, [.url], at: ["destination"]) }
    }

    func author() throws(KindError) -> FieldReference? {
        guard let name = declaration.author else { return nil }
        let author = try reference(name, [.text], at: ["author"])
        guard case .field(let field) = author, field.languages.isEmpty else {
            throw KindError(["author"], "must be a text field with one text: the cell id of the author, such as user:ada")
        }
        return author
    }

    func idField() throws(KindError) -> FieldDeclaration? {
        guard let name = declaration.id else { return nil }
        let fitting = declaration.fields.filter { $0.type == .text && $0.isRequired && $0.languages.isEmpty }.map(\.name)
        guard let field = declaration.fields.first(where: { $0.name == name }), fitting.contains(name) else {
            throw KindError(
                ["id"],
                "must be a required text field; "
                    + (fitting.isEmpty
                        ? "the kind has none: declare one under fields, as in `\(ItemError.shown(name)): {type: text, required: true}`"
                        : "allowed: \(fitting.joined(separator: ", "))"))
        }
        return field
    }

    private func cell(_ cell: CellDeclaration, at path: [String]) throws(KindError) -> DeclaredCell {
        // Clients name the cells that they support in Accept-Cells, so a name must be a valid string there (RFC 9651 §3.3.3).
        guard !cell.identifier.isEmpty, cell.identifier.utf8.count <= 128, cell.identifier.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw KindError(path, "identifier must have 1 to 128 ASCII characters")
        }
        try check(cell.size, at: path + ["size"])
        if let companion = cell.companion { try DeclaredFields.check(name: companion, at: path + ["companion"]) }
        var conditions: [CellCondition] = []
        for condition in cell.conditions { conditions.append(try self.condition(condition, at: path + ["when", condition.field])) }
        guard (1...999).contains(cell.version) else { throw KindError(path, "version is a whole number from 1 to 999") }
        return DeclaredCell(
            identifier: CellIdentifier(cell.identifier, version: cell.version), size: cell.size, conditions: conditions,
            bindings: try sources(cell.bindings, at: path + ["bind"]), companion: cell.companion)
    }

    private func check(_ size: SizeRule, at path: [String]) throws(KindError) {
        let points = [size.size.width, size.size.height, size.minimum, size.maximum].compactMap { $0 }
        guard points.allSatisfy({ (1...10_000).contains($0) }) else { throw KindError(path, "lengths are 1 to 10000 points") }
        guard (0.01...1).contains(size.fraction ?? 1) else { throw KindError(path, "fraction must be 0.01 to 1") }
        guard (0.01...100).contains(size.aspectRatio ?? 1) else { throw KindError(path, "aspect must be 0.01 to 100") }
        guard size.minimum ?? 0 <= size.maximum ?? .infinity else { throw KindError(path, "min is greater than max") }
        guard (0...size.size.height).contains(size.size.textHeight) else {
            throw KindError(path, "text-height must be 0 to the height, which is \(Int(size.size.height)) points")
        }
    }

    private func condition(_ condition: FieldCondition, at path: [String]) throws(KindError) -> CellCondition {
        let reference = try reference(condition.field, [], at: path)
        switch condition.test {
        case .present(let isPresent): return CellCondition(reference: reference, test: .present(isPresent))
        case .between(let minimum, let maximum):
            guard reference.type == .number else { throw KindError(path, "only a number has min and max") }
            return CellCondition(reference: reference, test: .between(minimum ?? -.infinity, maximum ?? .infinity))
        case .anyOf(let texts):
            guard !texts.isEmpty else { throw KindError(path, "a value is missing") }
            if case .field(let field) = reference, !field.languages.isEmpty {
                throw KindError(
                    path, "'\(field.name)' is a text by language: its only condition is present")
            }
            return CellCondition(reference: reference, test: try values(texts, of: reference, at: path))
        }
    }

    private func values(_ texts: [String], of reference: FieldReference, at path: [String]) throws(KindError) -> CellCondition.Test {
        func allowed(_ words: String, _ wrong: String) -> KindError {
            KindError(path, "'\(ItemError.shown(wrong))' is not allowed; allowed: \(words)")
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
            case .tags:
                throw KindError(path, "the only condition of tags is present")
            case .text, .date, .url, .image, .boolean: break
            }
        }
        return reference.type == .number ? .numbers(numbers) : .texts(texts)
    }
}

extension KindCompiler {
    private func sources(
        _ declared: [BindingDeclaration], at path: [String]
    ) throws(KindError) -> [DeclaredBinding] {
        var sources: [DeclaredBinding] = []
        for (index, binding) in declared.enumerated() {
            let path = path + [binding.part]
            guard !binding.part.isEmpty, binding.part.utf8.count <= 128 else { throw KindError(path, "a part's name has 1 to 128 bytes") }
            guard !declared[..<index].contains(where: { $0.part == binding.part }) else { throw KindError(path, "is bound twice") }
            guard binding.alternative == nil || binding.form == .image else { throw KindError(path, "alt is for images") }
            let isDecorative = binding.alternative.map { $0.isSame && $0[nil].isEmpty } ?? false
            let alternative = try (isDecorative ? nil : binding.alternative)?.map { (text) throws(KindError) in
                try source(BindingDeclaration("alt", .text, text), text, at: path + ["alt"])
            }
            guard binding.source.isSame || [.text, .link].contains(binding.form) else {
                throw KindError(path, "a \(binding.form.rawValue) is the same in all languages")
            }
            sources.append(
                DeclaredBinding(
                    part: binding.part,
                    source: try binding.source.map { (text) throws(KindError) in try source(binding, text, at: path) },
                    alternative: alternative, isDecorative: isDecorative))
        }
        return sources
    }

    private func source(_ binding: BindingDeclaration, _ text: String, at path: [String]) throws(KindError) -> BindingSource {
        let isTemplate = text.contains("{{")
        do {
            switch binding.form {
            case .text where isTemplate: return .template(try TextTemplate(text, for: .text, reading: references))
            case .link where isTemplate: return .linkTemplate(try LinkTemplate(text, reading: references))
            case .text: return .text(try reference(text, [.text, .number, .date, .url, .boolean, .tags], at: []))
            case .image:
                return .image(
                    try reference(text, [.image], at: []),
                    try binding.image.map { (image) throws(KindError) in try shown(image, binding.part) })
            case .date: return .date(try reference(text, [.date], at: []))
            case .number: return .number(try reference(text, [.number], at: []))
            case .link: return .link(try reference(text, [.url], at: []))
            case .media: return .media(try reference(text, [.url], at: []))
            }
        } catch {
            throw KindError(path, error.reason)
        }
    }
}

extension KindCompiler {
    private func shown(_ image: ImageDeclaration, _ part: String) throws(KindError) -> ImageReference {
        for length in [image.rule.width, image.rule.height] {
            switch length {
            case .points(let points):
                guard (1...10_000).contains(points) else { throw KindError([], "an image's lengths are 1 to 10000 points") }
            case .ofWidth(let share), .ofHeight(let share):
                guard (0.01...1).contains(share) else { throw KindError([], "an image takes 1% to 100% of its cell") }
            }
        }
        let fit: ImageReference.Fit
        switch image.fit {
        case .fit: fit = .fit
        case .centre: fit = .fill(.centre)
        case .attention: fit = .fill(.attention)
        case .fields(let x, let y): fit = .fields(x: try reference(x, [.number], at: []), y: try reference(y, [.number], at: []))
        }
        return ImageReference(rule: image.rule, fit: fit, part: part)
    }
}

extension DeclaredKind {
    package static func errors(in declaration: KindDeclaration) -> [KindError] {
        let first: KindError
        do {
            _ = try DeclaredKind(declaration)
            return []
        } catch {
            first = error
        }
        guard let compiler = try? KindCompiler(declaration) else { return [first] }
        let faults = compiler.errors()
        return faults.contains(first) ? faults : [first] + faults
    }
}

extension KindCompiler {
    fileprivate func errors() -> [KindError] {
        var faults: [KindError] = []
        func note<Value>(_ body: () throws(KindError) -> Value) {
            do { _ = try body() } catch { faults.append(error) }
        }
        for layout in CellLayout.allCases {
            for (index, cell) in (declaration.cells[layout] ?? []).enumerated() {
                let path = ["cells", layout.rawValue, "\(index)"]
                var bare = cell
                (bare.bindings, bare.conditions) = ([], [])
                note { () throws(KindError) in try self.cell(bare, at: path) }
                for condition in cell.conditions {
                    note { () throws(KindError) in try self.condition(condition, at: path + ["when", condition.field]) }
                }
                for binding in cell.bindings { note { () throws(KindError) in try sources([binding], at: path + ["bind"]) } }
            }
        }
        for argument in declaration.presentation?.arguments ?? [] {
            note { () throws(KindError) in try sources([argument], at: ["presentation", "arguments"]) }
        }
        note(destination)
        note(author)
        note(idField)
        return faults
    }
}
