internal import IntertwineFeed

struct KindReader {
    let policy: FailurePolicy
    var languages = FeedLanguages.none
    var labels: [CommandKey: LocalizedText] = [:]

    func declaration(_ name: String, at node: YAMLNode) throws -> KindDeclaration {
        let keys = ["prefix", "lane", "id", "types", "fields", "cells", "destination", "author", "presentation", "actions"]
        var faults = ErrorCollector()
        let members = try node.members(of: "kind '\(ItemError.shown(name))'", among: keys, errors: &faults)
        var kind = KindDeclaration(
            name: name, fields: faults.collect { try fields(members.required("fields", "each field's name with its type")) } ?? [],
            cells: faults.collect { try cells(members.required("cells", "the cells for collection, table")) } ?? [:])
        kind.prefix = faults.collect(members["prefix"]) { try $0.text("the prefix of cell ids") }
        kind.stream =
            faults.collect(members["lane"]) {
                try $0.value("content, advertisements") { ["content": .content, "advertisements": .advertisements][$0] }
            } ?? kind.stream
        kind.id = faults.collect(members["id"]) { try $0.text("a required text field") }
        kind.variants = faults.collect(members["types"]) { try $0.texts("the values of the type field") } ?? []
        kind.destination = faults.collect(members["destination"]) { try $0.text("a url field") }
        kind.author = faults.collect(members["author"]) { try $0.text("a text field") }
        kind.presentation = faults.collect(members["presentation"], presentation)
        faults.collect(members["actions"]) { try actions($0, of: &kind) }
        try faults.finish()
        return kind
    }

    private func fields(_ node: YAMLNode, isInput: Bool = false) throws -> [FieldDeclaration] {
        try node.each("each field's name with its type") { name, node in
            guard node.isMapping else { return FieldDeclaration(name, try type(node, isInput)) }
            let keys =
                ["type", "required", "min", "max", "choices", "languages", "label"] + (isInput ? [] : ["decimals", "factor", "unit"])
            let members = try node.members(of: "field '\(ItemError.shown(name))'", among: keys)
            let types = FieldType.allCases.map(\.rawValue).joined(separator: ", ")
            let labels = isInput ? nil : try members["choices"]?.choices(in: languages)
            var field = FieldDeclaration(
                name, try type(members.required("type", types), isInput), isRequired: try members["required"]?.flag() ?? false,
                minimum: try members["min"]?.number(), maximum: try members["max"]?.number(),
                choices: try labels?.map(\.choice) ?? members["choices"]?.texts("texts") ?? [],
                languages: try members["languages"].map(fieldLanguages) ?? [],
                label: try members["label"]?.label(in: languages))
            field.choiceLabels = Dictionary((labels ?? []).map { ($0.choice, $0.label) }) { $1 }
            if !members.keys.isDisjoint(with: ["decimals", "factor", "unit"]) {
                field.format = NumberFormat(
                    decimals: try members["decimals"]?.value(in: NumberFormat.decimals), factor: try members["factor"]?.number() ?? 1,
                    unit: try members["unit"]?.localizedText("a unit", in: languages))
            }
            return field
        }
    }

    private func type(_ node: YAMLNode, _ isInput: Bool) throws -> FieldType {
        let type = try node.choice(FieldType.self)
        guard type != .tags || !isInput else { throw node.error("an input value is not of the type tags") }
        return type
    }

    private func fieldLanguages(_ node: YAMLNode) throws -> [String] {
        guard try node.flag() else { return [] }
        guard !languages.isEmpty else { throw node.error("languages is missing: `languages: [en, de]` at the top of the file") }
        return languages.tags
    }

    private func presentation(_ node: YAMLNode) throws -> PresentationDeclaration {
        let members = try node.members(of: "presentation", among: ["screen", "type", "arguments"])
        return PresentationDeclaration(
            type: try members["type"]?.text("how the screen is shown, such as push") ?? "push",
            screen: try members.text("screen", "the screen that cells open"), arguments: try members["arguments"].map(bindings) ?? [])
    }

    private func actions(_ node: YAMLNode, of kind: inout KindDeclaration) throws {
        for (name, node) in try node.members("slots, each with the names of its commands") {
            let slot = CommandKey(name)
            guard slot != .configuration else {
                let others = CommandKey.standard.filter { $0 != .configuration }.map(\.rawValue).joined(separator: ", ")
                throw node.error("unknown key '\(name)' in actions; allowed: \(others), or a custom slot")
            }
            guard node.isMapping else {
                kind.actions[slot] = SlotCommands(try node.texts("names of commands"), policy: policy, label: labels[slot])
                continue
            }
            let members = try node.members(of: "slot '\(ItemError.shown(name))'", among: ["commands", "input", "label", "list", "count"])
            var commands = try members["commands"]?.texts("names of commands") ?? []
            if let declared = try list(members, besides: kind.lists) {
                kind.lists.append(declared)
                commands.append(ListAddition(list: declared.list).name)
            }
            guard !commands.isEmpty || members["commands"] != nil else {
                throw node.error("commands is missing: names of commands; or a list that the slot adds the cell to")
            }
            kind.actions[slot] = SlotCommands(
                commands, policy: policy, input: try members["input"].map { try fields($0, isInput: true) } ?? [],
                label: try members["label"]?.label(of: slot, in: languages) ?? labels[slot])
        }
    }

    private func list(_ members: YAMLMembers, besides others: [DeclaredList]) throws -> DeclaredList? {
        guard let node = members["list"] else {
            if let count = members["count"] { throw count.error("list is missing: the list whose viewers are counted") }
            return nil
        }
        let name = "a letter followed by letters, digits, _ or -"
        let list = try node.value("\(name); not dismissed or selected") { name in
            let list = ViewerList(rawValue: name)
            return FieldDeclaration.isName(name) && list != .dismissed && list != .selected ? list : nil
        }
        let count = try members["count"]?.value("\(name), which no other count of the kind has") { name in
            FieldDeclaration.isName(name) && !others.contains { $0.count == name } ? name : nil
        }
        return DeclaredList(list, count: count)
    }
}

extension KindReader {
    private func cells(_ node: YAMLNode) throws -> [CellLayout: [CellDeclaration]] {
        let members = try node.members(of: "cells", among: CellLayout.allCases.map(\.rawValue))
        var faults = ErrorCollector()
        var cells: [CellLayout: [CellDeclaration]] = [:]
        for layout in CellLayout.allCases {
            cells[layout] = members[layout.rawValue]?.elements.compactMap { node in faults.collect { try cell(node) } }
        }
        try faults.finish()
        return cells
    }

    private func cell(_ node: YAMLNode) throws -> CellDeclaration {
        let members = try node.members(of: "a cell", among: ["identifier", "version", "size", "when", "bind", "companion"])
        var cell = CellDeclaration(
            try members.text("identifier", "the cell's reuse identifier"),
            size: try size(members.required("size", "such as 300x200, or \(Self.sizeKeys.joined(separator: ", "))")),
            conditions: try members["when"].map(conditions) ?? [],
            bindings: try members["bind"].map(bindings) ?? [], companion: try members["companion"]?.text("the name of a companion"))
        cell.version = try members["version"]?.value(in: 1...999) ?? cell.version
        return cell
    }

    private static let sizeKeys = ["width", "height", "fraction", "aspect", "min", "max", "text-height"]

    private func size(_ node: YAMLNode) throws -> SizeRule {
        guard node.isMapping else {
            return try node.value("a size such as 300x200") { text in
                let lengths = text.split(separator: "x", omittingEmptySubsequences: false).map { Double($0) }
                guard lengths.count == 2, let width = lengths[0], let height = lengths[1] else { return nil }
                return SizeRule(CellSize(width: width, height: height))
            }
        }
        let members = try node.members(of: "size", among: Self.sizeKeys)
        func number(_ key: String) throws -> Double? { try members[key]?.number() }
        let (width, height, aspect) = (try number("width"), try number("height"), try number("aspect"))
        let (minimum, maximum, textHeight) = (try number("min"), try number("max"), try number("text-height") ?? 0)
        guard let fraction = try number("fraction") else {
            if let stray = members["min"] ?? members["max"] {
                throw stray.error("min and max bound a fraction of the client's width; a size without fraction needs neither")
            }
            if let aspect, aspect <= 0 || width != nil && height != nil {
                throw node.error("aspect is width divided by height: more than 0, beside one of the two")
            }
            guard let width = width ?? aspect.flatMap({ aspect in height.map { ($0 * aspect).rounded() } }),
                let height = height ?? aspect.map({ (width / $0).rounded() })
            else { throw node.error("width or height is missing; a size has both, one and aspect, or a fraction of the client's width") }
            return SizeRule(CellSize(width: width, height: height, textHeight: textHeight))
        }
        let usual = width ?? min(max(SizeRule.usualWidth * fraction, minimum ?? 0), maximum ?? .infinity).rounded()
        guard let height = height ?? aspect.map({ (usual / $0).rounded() }) else {
            throw node.error("height or aspect is missing; fraction sets only the width")
        }
        return SizeRule(
            CellSize(width: usual, height: height, textHeight: textHeight), fraction: fraction, aspectRatio: aspect, minimum: minimum,
            maximum: maximum)
    }

    private func conditions(_ node: YAMLNode) throws -> [FieldCondition] {
        let tests = try node.each("fields, each with a value, a list of values, min and max, or present") { field, node in
            guard node.isMapping else { return [FieldCondition(field, .anyOf(try node.texts("a value, or a list of values")))] }
            let members = try node.members(of: "a condition", among: ["present", "min", "max"])
            if members.keys.isEmpty { throw node.error("a condition is missing; allowed: present, min, max") }
            let present = try members["present"].map { FieldCondition(field, .present(try $0.flag())) }
            let range = FieldCondition.Test.between(minimum: try members["min"]?.number(), maximum: try members["max"]?.number())
            return [present, range == .between(minimum: nil, maximum: nil) ? nil : FieldCondition(field, range)].compactMap { $0 }
        }
        return tests.flatMap { $0 }
    }

    private func bindings(_ node: YAMLNode) throws -> [BindingDeclaration] {
        let forms = BindingDeclaration.BindingFormat.allCases.map(\.rawValue)
        let shown = ["size", "fit", "focus", "alt"]
        return try node.each("the parts of the cell") { part, node in
            let members = try node.members(of: "the binding of '\(ItemError.shown(part))'", among: forms + shown)
            let named = members.keys.subtracting(shown)
            guard named.count == 1, let name = named.first, let form = BindingDeclaration.BindingFormat(rawValue: name) else {
                throw node.error("'\(ItemError.shown(part))' needs exactly one binding; allowed: one of \(forms.joined(separator: ", "))")
            }
            if form != .image, let stray = shown.compactMap({ members[$0] }).first {
                throw stray.error("\(shown.joined(separator: ", ")) are for images only")
            }
            let source = try members.required(name, "").localizedText("a field, or a template", in: languages)
            return BindingDeclaration(
                part, form, source, image: try image(members),
                alternative: try members["alt"].map { alt in
                    alt.isEmptyText ? LocalizedText("") : try alt.localizedText("a field, a template, or \"\"", in: languages)
                })
        }
    }
}

extension KindReader {
    private static let imageSizes = "cell, 150x100 in points, 100%x50% of the cell's width and height, or 60% of its height for a square"

    private func image(_ members: YAMLMembers) throws -> ImageDeclaration? {
        guard let size = members["size"] else {
            if let stray = members["fit"] ?? members["focus"] {
                throw stray.error("without a size the original is served; set one: \(Self.imageSizes)")
            }
            return nil
        }
        let rule = try size.value(Self.imageSizes, Self.sizing)
        let fit = try members["fit"]?.value("fill, fit") { ["fill": .centre, "fit": .fit][$0] } ?? ImageDeclaration.Fit.centre
        guard let focus = members["focus"] else { return ImageDeclaration(rule, fit) }
        guard fit != .fit else { throw focus.error("an image with fit is not cropped, so it has no focus") }
        switch try focus.texts("centre, attention, or two number fields") {
        case ["centre"]: return ImageDeclaration(rule)
        case ["attention"]: return ImageDeclaration(rule, .attention)
        case let fields where fields.count == 2: return ImageDeclaration(rule, .fields(x: fields[0], y: fields[1]))
        case let words:
            throw focus.notAllowed(words.joined(separator: ", "), "centre, attention, or two number fields such as [face-x, face-y]")
        }
    }

    private static func sizing(_ text: String) -> ImageSizing? {
        if text == "cell" { return .cell }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count <= 2, let last = sides.last, let height = length(last, ImageSizing.Length.ofHeight) else { return nil }
        // One length is a square's.
        if sides.count == 1 { return ImageSizing(width: height, height: height) }
        return length(sides[0], ImageSizing.Length.ofWidth).map { ImageSizing(width: $0, height: height) }
    }

    private static func length(_ text: Substring, _ share: (Double) -> ImageSizing.Length) -> ImageSizing.Length? {
        text.hasSuffix("%") ? Double(text.dropLast()).map { share($0 / 100) } : Double(text).map { .points($0) }
    }
}
