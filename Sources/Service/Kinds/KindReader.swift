internal import Feed

/// Reads the declaration of one kind, `name: {fields: …, cells: …}`. What it names is checked by ``DeclaredKind``, not here.
struct KindReader {
    /// What a slot does when one of its commands fails.
    let policy: FailurePolicy

    func declaration(_ name: String, at place: YAMLPlace) throws(ConfigurationError) -> KindDeclaration {
        let keys = ["prefix", "lane", "id", "types", "fields", "cells", "destination", "presentation", "actions"]
        let members = try place.members(of: "kind '\(ItemFault.shown(name))'", among: keys)
        guard let fields = members["fields"] else { throw place.fault("fields is missing: each field's name with its type") }
        guard let cells = members["cells"] else { throw place.fault("cells is missing: the cells for collection, table") }
        var declaration = KindDeclaration(name: name, fields: try self.fields(fields), cells: try self.cells(cells))
        declaration.prefix = try members["prefix"]?.text("what cell ids begin with")
        if let lane = members["lane"] { declaration.lane = try self.lane(lane) }
        declaration.id = try members["id"]?.text("a required text field")
        declaration.variants = try members["types"]?.texts("the values of the type field") ?? []
        declaration.destination = try members["destination"]?.text("a required url field")
        if let presentation = members["presentation"] { declaration.presentation = try self.presentation(presentation) }
        if let actions = members["actions"] { declaration.actions = try self.actions(actions) }
        return declaration
    }

    private func lane(_ place: YAMLPlace) throws(ConfigurationError) -> Lane {
        switch try place.text("content, advertisements") {
        case "content": return .content
        case "advertisements": return .advertisements
        case let text: throw place.notAllowed(text, "content, advertisements")
        }
    }

    /// `title: text`, or `title: {type: text, required: true, min: 1, max: 80}`.
    private func fields(_ place: YAMLPlace) throws(ConfigurationError) -> [FieldDeclaration] {
        var fields: [FieldDeclaration] = []
        for (name, place) in try place.members("each field's name with its type") {
            guard place.isMapping else {
                fields.append(FieldDeclaration(name, try place.choice(FieldType.self)))
                continue
            }
            let members = try place.members(of: "field '\(ItemFault.shown(name))'", among: ["type", "required", "min", "max"])
            guard let type = members["type"] else {
                throw place.fault("type is missing; allowed: \(FieldType.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            fields.append(
                FieldDeclaration(
                    name, try type.choice(FieldType.self), isRequired: try members["required"]?.flag() ?? false,
                    minimum: try members["min"]?.number("a number"), maximum: try members["max"]?.number("a number")))
        }
        return fields
    }

    private func presentation(_ place: YAMLPlace) throws(ConfigurationError) -> PresentationDeclaration {
        let members = try place.members(of: "presentation", among: ["screen", "type", "arguments"])
        guard let screen = members["screen"] else { throw place.fault("screen is missing: the screen that cells open") }
        return PresentationDeclaration(
            type: try members["type"]?.text("how the screen is shown, such as push") ?? "push",
            screen: try screen.text("the screen that cells open"), arguments: try members["arguments"].map(bindings) ?? [])
    }

    /// `selection: [analytics, present]`.
    private func actions(_ place: YAMLPlace) throws(ConfigurationError) -> [CommandKey: SlotCommands] {
        let slots = CommandKey.allCases.filter { $0 != .configuration }.map(\.rawValue)
        var actions: [CommandKey: SlotCommands] = [:]
        for (name, place) in try place.members(of: "actions", among: slots) {
            guard let slot = CommandKey(rawValue: name) else { continue }
            actions[slot] = SlotCommands(try place.texts("names of commands"), policy: policy)
        }
        return actions
    }
}
