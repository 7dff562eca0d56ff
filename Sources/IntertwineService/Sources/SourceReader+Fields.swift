internal import IntertwineFeed
internal import Yams

extension SourceReader {
    /// `username: /profile/name`, `avatarUrl: avatar`, `type: {value: regular}`: as far as a kind tells its fields, those and no others.
    func fields(_ place: YAMLPlace, of kind: any ItemKind) throws(ConfigurationError) -> FieldMapping {
        var fields: [(name: String, origin: FieldMapping.Origin)] = []
        let known = kind.fields
        var faults = FaultCollector()
        for (name, place) in try place.members("each field's name with where its value stands") {
            let origin = faults.collect { () throws(ConfigurationError) in
                let field = known?.first { $0.name == name }
                if let known, field == nil, name != Self.discriminator {
                    throw place.unknown("field", name, " of the kind \(kind.name)", among: [Self.discriminator] + known.map(\.name))
                }
                let origin = try self.origin(of: name, place)
                if case .constant(let text) = origin, let field { try check(text, field, at: place) }
                return origin
            }
            if let origin { fields.append((name, origin)) }
        }
        try faults.finish()
        guard !fields.isEmpty else { throw place.fault("fields is empty; without it an item's fields are the members of the same names") }
        if let missing = known?.first(where: { known in known.isRequired && !fields.contains { $0.name == known.name } }) {
            throw place.fault("field '\(missing.name)' is missing: every item of the kind \(kind.name) has one")
        }
        return FieldMapping(fields)
    }

    /// Every item has it, and no kind lists it.
    private static let discriminator = "klass"

    private func origin(of name: String, _ place: YAMLPlace) throws(ConfigurationError) -> FieldMapping.Origin {
        if place.isMapping {
            guard let value = try place.members(of: "field '\(ItemFault.shown(name))'", among: ["value"])["value"] else {
                throw place.fault("value is missing: the same text for every item")
            }
            return .constant(try value.text("a text"))
        }
        let text = try place.text("a member's name, a JSON Pointer, or {value: text}")
        return .pointer(text.hasPrefix("/") ? try pointer(place) : JSONPointer(member: text))
    }

    private func check(_ text: String, _ field: ItemField, at place: YAMLPlace) throws(ConfigurationError) {
        do {
            try field.validate(text)
        } catch {
            throw place.fault("no item can have this: \(error)")
        }
    }
}
