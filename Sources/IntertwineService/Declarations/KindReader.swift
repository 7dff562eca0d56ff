internal import IntertwineFeed

struct KindReader {
    let policy: FailurePolicy
    var languages = FeedLanguages.none
    var labels: [CommandKey: LocalizedText] = [:]

    func declaration(_ name: String, at node: YAMLNode) throws(ConfigurationError) -> KindDeclaration {
        let keys = ["prefix", "lane", "id", "types", "fields", "cells", "destination", "author", "presentation", "actions"]
        var faults = ErrorCollector()
        let members = try node.members(of: "kind '\(ItemError.shown(name))'", among: keys, errors: &faults)
        guard let fields = members["fields"] else { throw node.error("fields is missing: each field's name with its type") }
        guard let cells = members["cells"] else { throw node.error("cells is missing: the cells for collection, table") }
        func read<Value>(_ name: String, _ body: (YAMLNode) throws(ConfigurationError) -> Value) -> Value? {
            members[name].flatMap { node in faults.collect { () throws(ConfigurationError) in try body(node) } }
        }
        var declaration = KindDeclaration(
            name: name, fields: faults.collect { () throws(ConfigurationError) in try self.fields(fields) } ?? [],
            cells: faults.collect { () throws(ConfigurationError) in try self.cells(cells) } ?? [:])
        declaration.prefix = read("prefix") { node throws(ConfigurationError) in try node.text("the prefix of cell ids") }
        declaration.stream = read("lane") { node throws(ConfigurationError) in try stream(node) } ?? declaration.stream
        declaration.id = read("id") { node throws(ConfigurationError) in try node.text("a required text field") }
        declaration.variants = read("types") { node throws(ConfigurationError) in try node.texts("the values of the type field") } ?? []
        declaration.destination = read("destination") { node throws(ConfigurationError) in try node.text("a url field") }
        declaration.author = read("author") { node throws(ConfigurationError) in try node.text("a text field") }
        declaration.presentation = read("presentation") { node throws(ConfigurationError) in try presentation(node) }
        if let (actions, lists) = read("actions", { node throws(ConfigurationError) in try actions(node) }) {
            (declaration.actions, declaration.lists) = (actions, lists)
        }
        try faults.finish()
        return declaration
    }

    private func stream(_ node: YAMLNode) throws(ConfigurationError) -> StreamID {
        switch try node.text("content, advertisements") {
        case "content": return .content
        case "advertisements": return .advertisements
        case let text: throw node.notAllowed(text, "content, advertisements")
        }
    }

    private func fields(_ node: YAMLNode, isInput: Bool = false) throws(ConfigurationError) -> [FieldDeclaration] {
        var faults = ErrorCollector()
        let fields = try node.members("each field's name with its type").compactMap { name, node in
            faults.collect { () throws(ConfigurationError) in try field(name, node, isInput: isInput) }
        }
        try faults.finish()
        return fields
    }

    private func field(_ name: String, _ node: YAMLNode, isInput: Bool) throws(ConfigurationError) -> FieldDeclaration {
        func type(_ node: YAMLNode) throws(ConfigurationError) -> FieldType {
            let type = try node.choice(FieldType.self)
            guard type != .tags || !isInput else { throw node.error("an input value is not of the type tags") }
            return type
        }
        guard node.isMapping else { return FieldDeclaration(name, try type(node)) }
        let keys = ["type", "required", "min", "max", "choices", "languages"] + (isInput ? ["label"] : ["decimals", "factor", "unit"])
        let members = try node.members(of: "field '\(ItemError.shown(name))'", among: keys)
        guard let typeNode = members["type"] else {
            throw node.error("type is missing; allowed: \(FieldType.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        var field = FieldDeclaration(
            name, try type(typeNode), isRequired: try members["required"]?.flag() ?? false,
            minimum: try members["min"]?.number("a number"), maximum: try members["max"]?.number("a number"),
            choices: try members["choices"]?.texts("texts") ?? [], languages: try members["languages"].map(fieldLanguages) ?? [],
            label: try members["label"].map { node throws(ConfigurationError) in try node.label(in: languages) })
        field.format = try format(members)
        return field
    }

    private func format(_ members: [String: YAMLNode]) throws(ConfigurationError) -> NumberFormat? {
        guard ["decimals", "factor", "unit"].contains(where: { members[$0] != nil }) else { return nil }
        var format = NumberFormat()
        if let node = members["decimals"] {
            let allowed = "a whole number from \(NumberFormat.decimals.lowerBound) to \(NumberFormat.decimals.upperBound)"
            let text = try node.text(allowed)
            guard let decimals = Int(text), NumberFormat.decimals ~= decimals else { throw node.notAllowed(text, allowed) }
            format.decimals = decimals
        }
        if let factor = try members["factor"]?.number("a number") { format.factor = factor }
        format.unit = try members["unit"].map { node throws(ConfigurationError) in try node.localizedText("a unit", in: languages) }
        return format
    }

    private func fieldLanguages(_ node: YAMLNode) throws(ConfigurationError) -> [String] {
        guard try node.flag() else { return [] }
        guard !languages.isEmpty else {
            throw node.error("languages is missing: `languages: [en, de]` at the top of the file")
        }
        return languages.tags
    }

    private func presentation(_ node: YAMLNode) throws(ConfigurationError) -> PresentationDeclaration {
        let members = try node.members(of: "presentation", among: ["screen", "type", "arguments"])
        guard let screen = members["screen"] else { throw node.error("screen is missing: the screen that cells open") }
        return PresentationDeclaration(
            type: try members["type"]?.text("how the screen is shown, such as push") ?? "push",
            screen: try screen.text("the screen that cells open"), arguments: try members["arguments"].map(bindings) ?? [])
    }

    private func actions(_ node: YAMLNode) throws(ConfigurationError) -> ([CommandKey: SlotCommands], [DeclaredList]) {
        var actions: [CommandKey: SlotCommands] = [:]
        var lists: [DeclaredList] = []
        for (name, node) in try node.members("slots, each with the names of its commands") {
            let slot = CommandKey(name)
            guard slot != .configuration else {
                let others = CommandKey.standard.filter { $0 != .configuration }.map(\.rawValue).joined(separator: ", ")
                throw node.error("unknown key '\(name)' in actions; allowed: \(others), or a custom slot")
            }
            guard node.isMapping else {
                actions[slot] = SlotCommands(try node.texts("names of commands"), policy: policy, label: labels[slot])
                continue
            }
            let members = try node.members(of: "slot '\(ItemError.shown(name))'", among: ["commands", "input", "label", "list", "count"])
            var commands = try members["commands"]?.texts("names of commands") ?? []
            if let declared = try list(members, besides: lists) {
                lists.append(declared)
                commands.append(ListAddition(list: declared.list).name)
            }
            guard !commands.isEmpty || members["commands"] != nil else {
                throw node.error("commands is missing: names of commands; or a list that the slot adds the cell to")
            }
            actions[slot] = SlotCommands(
                commands, policy: policy,
                input: try members["input"].map { node throws(ConfigurationError) in try fields(node, isInput: true) } ?? [],
                label: try members["label"].map { node throws(ConfigurationError) in try node.label(of: slot, in: languages) }
                    ?? labels[slot])
        }
        return (actions, lists)
    }

    private func list(_ members: [String: YAMLNode], besides others: [DeclaredList]) throws(ConfigurationError) -> DeclaredList? {
        guard let node = members["list"] else {
            if let count = members["count"] { throw count.error("list is missing: the list whose viewers are counted") }
            return nil
        }
        let allowed = "a letter followed by letters, digits, _ or -; not dismissed or selected"
        let name = try node.text(allowed)
        guard FieldDeclaration.isName(name), name != ViewerList.dismissed.rawValue, name != ViewerList.selected.rawValue else {
            throw node.notAllowed(name, allowed)
        }
        guard let counted = members["count"] else { return DeclaredList(ViewerList(rawValue: name), count: nil) }
        let count = try counted.text("the name of the count")
        guard FieldDeclaration.isName(count), !others.contains(where: { $0.count == count }) else {
            throw counted.notAllowed(count, "a letter followed by letters, digits, _ or -, which no other count of the kind has")
        }
        return DeclaredList(ViewerList(rawValue: name), count: count)
    }
}

extension KindReader {
    private func cells(_ node: YAMLNode) throws(ConfigurationError) -> [CellLayout: [CellDeclaration]] {
        var faults = ErrorCollector()
        var cells: [CellLayout: [CellDeclaration]] = [:]
        for (name, node) in try node.members(of: "cells", among: CellLayout.allCases.map(\.rawValue)) {
            guard let layout = CellLayout(rawValue: name) else { continue }
            let nodes = node.isList ? try node.elements("cells") : [node]
            cells[layout] = nodes.compactMap { node in faults.collect { () throws(ConfigurationError) in try cell(node) } }
        }
        try faults.finish()
        return cells
    }

    private func cell(_ node: YAMLNode) throws(ConfigurationError) -> CellDeclaration {
        let members = try node.members(of: "a cell", among: ["identifier", "version", "size", "when", "bind", "companion"])
        guard let identifier = members["identifier"] else { throw node.error("identifier is missing: the cell's reuse identifier") }
        guard let size = members["size"] else { throw node.error("size is missing: such as 300x200, or \(Self.sizeKeys)") }
        var cell = CellDeclaration(
            try identifier.text("the cell's reuse identifier"), size: try self.size(size),
            conditions: try members["when"].map(conditions) ?? [],
            bindings: try members["bind"].map(bindings) ?? [], companion: try members["companion"]?.text("the name of a companion"))
        if let version = members["version"] {
            let allowed = "a whole number from 1 to 999"
            let text = try version.text(allowed)
            guard let number = Int(text) else { throw version.notAllowed(text, allowed) }
            cell.version = number
        }
        return cell
    }

    private static let sizeKeys = "width, height, fraction, aspect, min, max, text-height"

    private func size(_ node: YAMLNode) throws(ConfigurationError) -> SizeRule {
        guard node.isMapping else {
            let text = try node.text("a size such as 300x200")
            let lengths = text.split(separator: "x", omittingEmptySubsequences: false).map { Double($0) }
            guard lengths.count == 2, let width = lengths[0], let height = lengths[1] else {
                throw node.notAllowed(text, "a size such as 300x200")
            }
            return SizeRule(CellSize(width: width, height: height))
        }
        let keys = ["width", "height", "fraction", "aspect", "min", "max", "text-height"]
        var numbers: [String: Double] = [:]
        let members = try node.members(of: "size", among: keys)
        for key in keys { numbers[key] = try members[key]?.number("a number") }
        let textHeight = numbers["text-height"] ?? 0
        guard let fraction = numbers["fraction"] else {
            if let stray = ["min", "max"].compactMap({ members[$0] }).first {
                throw stray.error("min and max bound a fraction of the client's width; a size without fraction needs neither")
            }
            let (aspect, known) = (numbers["aspect"], (numbers["width"], numbers["height"]))
            if let aspect, aspect <= 0 || known.0 != nil && known.1 != nil {
                throw node.error("aspect is width divided by height: more than 0, beside one of the two")
            }
            guard let width = known.0 ?? aspect.flatMap({ aspect in known.1.map { ($0 * aspect).rounded() } }),
                let height = known.1 ?? aspect.map({ (width / $0).rounded() })
            else { throw node.error("width or height is missing; a size has both, one and aspect, or a fraction of the client's width") }
            return SizeRule(CellSize(width: width, height: height, textHeight: textHeight))
        }
        let share = min(max(SizeRule.usualWidth * fraction, numbers["min"] ?? 0), numbers["max"] ?? .infinity).rounded()
        let width = numbers["width"] ?? share
        guard let height = numbers["height"] ?? numbers["aspect"].map({ (width / $0).rounded() }) else {
            throw node.error("height or aspect is missing; fraction sets only the width")
        }
        return SizeRule(
            CellSize(width: width, height: height, textHeight: textHeight), fraction: fraction, aspectRatio: numbers["aspect"],
            minimum: numbers["min"], maximum: numbers["max"])
    }

    private func conditions(_ node: YAMLNode) throws(ConfigurationError) -> [FieldCondition] {
        var conditions: [FieldCondition] = []
        for (field, node) in try node.members("fields, each with a value, a list of values, min and max, or present") {
            guard node.isMapping else {
                conditions.append(FieldCondition(field, .anyOf(try node.texts("a value, or a list of values"))))
                continue
            }
            let members = try node.members(of: "a condition", among: ["present", "min", "max"])
            if let present = members["present"] { conditions.append(FieldCondition(field, .present(try present.flag()))) }
            let (minimum, maximum) = (try members["min"]?.number("a number"), try members["max"]?.number("a number"))
            if minimum != nil || maximum != nil {
                conditions.append(FieldCondition(field, .between(minimum: minimum, maximum: maximum)))
            }
            if members.isEmpty { throw node.error("a condition is missing; allowed: present, min, max") }
        }
        return conditions
    }

    private func bindings(_ node: YAMLNode) throws(ConfigurationError) -> [BindingDeclaration] {
        let forms = BindingDeclaration.BindingFormat.allCases.map(\.rawValue)
        let shown = ["size", "fit", "focus", "alt"]
        var faults = ErrorCollector()
        let bindings = try node.members("the parts of the cell").compactMap { part, node in
            faults.collect { () throws(ConfigurationError) in
                let members = try node.members(of: "the binding of '\(ItemError.shown(part))'", among: forms + shown)
                let named = members.filter { !shown.contains($0.key) }
                guard named.count == 1, let (name, source) = named.first, let form = BindingDeclaration.BindingFormat(rawValue: name) else {
                    throw node.error(
                        "'\(ItemError.shown(part))' needs exactly one binding; allowed: one of \(forms.joined(separator: ", "))")
                }
                if form != .image, let stray = shown.compactMap({ members[$0] }).first {
                    throw stray.error("\(shown.joined(separator: ", ")) are for images only")
                }
                return BindingDeclaration(
                    part, form, try source.localizedText("a field, or a template", in: languages),
                    image: try image(size: members["size"], fit: members["fit"], focus: members["focus"]),
                    alternative: try members["alt"].map { (alt) throws(ConfigurationError) in
                        alt.isEmptyText ? LocalizedText("") : try alt.localizedText("a field, a template, or \"\"", in: languages)
                    })
            }
        }
        try faults.finish()
        return bindings
    }
}

extension KindReader {
    private static let imageSizes = "cell, 150x100 in points, 100%x50% of the cell's width and height, or 60% of its height for a square"

    private func image(size: YAMLNode?, fit: YAMLNode?, focus: YAMLNode?) throws(ConfigurationError) -> ImageDeclaration? {
        guard let size else {
            if let stray = fit ?? focus {
                throw stray.error("without a size the original is served; set one: \(Self.imageSizes)")
            }
            return nil
        }
        let rule = try self.rule(size)
        let way = try fit.map { (node) throws(ConfigurationError) in (try node.text("fill or fit"), node) } ?? ("fill", size)
        guard ["fill", "fit"].contains(way.0) else { throw way.1.notAllowed(way.0, "fill, fit") }
        if way.0 == "fit" {
            if let focus { throw focus.error("an image with fit is not cropped, so it has no focus") }
            return ImageDeclaration(rule, .fit)
        }
        guard let focus else { return ImageDeclaration(rule) }
        let words = try focus.texts("centre, attention, or two number fields")
        switch words {
        case ["centre"]: return ImageDeclaration(rule)
        case ["attention"]: return ImageDeclaration(rule, .attention)
        case let fields where fields.count == 2: return ImageDeclaration(rule, .fields(x: fields[0], y: fields[1]))
        default: throw focus.notAllowed(words.joined(separator: ", "), "centre, attention, or two number fields such as [face-x, face-y]")
        }
    }

    private func rule(_ node: YAMLNode) throws(ConfigurationError) -> ImageSizing {
        let text = try node.text(Self.imageSizes)
        if text == "cell" { return .cell }
        // One length is a square's.
        if !text.contains("x"), let side = Self.length(text[...], ImageSizing.Length.ofHeight) {
            return ImageSizing(width: side, height: side)
        }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = Self.length(sides[0], ImageSizing.Length.ofWidth),
            let height = Self.length(sides[1], ImageSizing.Length.ofHeight)
        else { throw node.notAllowed(text, Self.imageSizes) }
        return ImageSizing(width: width, height: height)
    }

    private static func length(_ text: Substring, _ share: (Double) -> ImageSizing.Length) -> ImageSizing.Length? {
        text.hasSuffix("%") ? Double(text.dropLast()).map { share($0 / 100) } : Double(text).map { .points($0) }
    }
}
