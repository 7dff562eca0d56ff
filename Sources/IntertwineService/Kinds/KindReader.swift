internal import IntertwineFeed

/// Reads the declaration of one kind, `name: {fields: …, cells: …}`. What it names is checked by ``DeclaredKind``, not here.
struct KindReader {
    /// What a slot does when one of its commands fails.
    let policy: FailurePolicy

    func declaration(_ name: String, at place: YAMLPlace) throws(ConfigurationError) -> KindDeclaration {
        let keys = ["prefix", "lane", "id", "types", "fields", "cells", "destination", "presentation", "actions"]
        var faults = FaultCollector()
        let members = try place.members(of: "kind '\(ItemFault.shown(name))'", among: keys, faults: &faults)
        guard let fields = members["fields"] else { throw place.fault("fields is missing: each field's name with its type") }
        guard let cells = members["cells"] else { throw place.fault("cells is missing: the cells for collection, table") }
        func read<Value>(_ name: String, _ body: (YAMLPlace) throws(ConfigurationError) -> Value) -> Value? {
            members[name].flatMap { place in faults.collect { () throws(ConfigurationError) in try body(place) } }
        }
        var declaration = KindDeclaration(
            name: name, fields: faults.collect { () throws(ConfigurationError) in try self.fields(fields) } ?? [],
            cells: faults.collect { () throws(ConfigurationError) in try self.cells(cells) } ?? [:])
        declaration.prefix = read("prefix") { place throws(ConfigurationError) in try place.text("what cell ids begin with") }
        declaration.lane = read("lane") { place throws(ConfigurationError) in try lane(place) } ?? declaration.lane
        declaration.id = read("id") { place throws(ConfigurationError) in try place.text("a required text field") }
        declaration.variants = read("types") { place throws(ConfigurationError) in try place.texts("the values of the type field") } ?? []
        declaration.destination = read("destination") { place throws(ConfigurationError) in try place.text("a required url field") }
        declaration.presentation = read("presentation") { place throws(ConfigurationError) in try presentation(place) }
        declaration.actions = read("actions") { place throws(ConfigurationError) in try actions(place) } ?? declaration.actions
        try faults.finish()
        return declaration
    }

    private func lane(_ place: YAMLPlace) throws(ConfigurationError) -> Lane {
        switch try place.text("content, advertisements") {
        case "content": return .content
        case "advertisements": return .advertisements
        case let text: throw place.notAllowed(text, "content, advertisements")
        }
    }

    /// `title: text`, or `title: {type: text, required: true, min: 1, max: 80, choices: [a, b]}`.
    private func fields(_ place: YAMLPlace) throws(ConfigurationError) -> [FieldDeclaration] {
        var faults = FaultCollector()
        let fields = try place.members("each field's name with its type").compactMap { name, place in
            faults.collect { () throws(ConfigurationError) in try field(name, place) }
        }
        try faults.finish()
        return fields
    }

    private func field(_ name: String, _ place: YAMLPlace) throws(ConfigurationError) -> FieldDeclaration {
        guard place.isMapping else { return FieldDeclaration(name, try place.choice(FieldType.self)) }
        let members = try place.members(of: "field '\(ItemFault.shown(name))'", among: ["type", "required", "min", "max", "choices"])
        guard let type = members["type"] else {
            throw place.fault("type is missing; allowed: \(FieldType.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return FieldDeclaration(
            name, try type.choice(FieldType.self), isRequired: try members["required"]?.flag() ?? false,
            minimum: try members["min"]?.number("a number"), maximum: try members["max"]?.number("a number"),
            choices: try members["choices"]?.texts("texts") ?? [])
    }

    private func presentation(_ place: YAMLPlace) throws(ConfigurationError) -> PresentationDeclaration {
        let members = try place.members(of: "presentation", among: ["screen", "type", "arguments"])
        guard let screen = members["screen"] else { throw place.fault("screen is missing: the screen that cells open") }
        return PresentationDeclaration(
            type: try members["type"]?.text("how the screen is shown, such as push") ?? "push",
            screen: try screen.text("the screen that cells open"), arguments: try members["arguments"].map(bindings) ?? [])
    }

    /// `selection: [analytics, present]`, or `comment: {commands: [analytics, comment], input: {text: {type: text, required: true}}}`.
    private func actions(_ place: YAMLPlace) throws(ConfigurationError) -> [CommandKey: SlotCommands] {
        var actions: [CommandKey: SlotCommands] = [:]
        for (name, place) in try place.members("slots, each with the names of its commands") {
            let slot = CommandKey(name)
            guard slot != .configuration else {
                let others = CommandKey.standard.filter { $0 != .configuration }.map(\.rawValue).joined(separator: ", ")
                throw place.fault("unknown key '\(name)' in actions; allowed: \(others), or a slot of your own")
            }
            guard place.isMapping else {
                actions[slot] = SlotCommands(try place.texts("names of commands"), policy: policy)
                continue
            }
            let members = try place.members(of: "slot '\(ItemFault.shown(name))'", among: ["commands", "input"])
            guard let commands = members["commands"] else { throw place.fault("commands is missing: names of commands") }
            actions[slot] = SlotCommands(
                try commands.texts("names of commands"), policy: policy, input: try members["input"].map(fields) ?? [])
        }
        return actions
    }
}
