internal import IntertwineFeed
internal import Yams

/// A value in a YAML file, with the line to blame for it.
struct YAMLPlace {
    let file: String
    let node: Node
    /// Of the value's key, where it has one; from 1.
    let line: Int

    var isMapping: Bool { node.mapping != nil }
    var isList: Bool { node.sequence != nil }

    /// One line for the person who wrote the file: where, what is wrong, what is allowed.
    func fault(_ reason: String) -> ConfigurationError {
        ConfigurationError("\(file):\(line): \(reason)".replacing("\n", with: " "))
    }

    /// The members of a mapping, in the order of the file.
    ///
    /// - Parameter expected: what the mapping is for, in messages.
    func members(_ expected: String) throws(ConfigurationError) -> [(name: String, place: YAMLPlace)] {
        guard let mapping = node.mapping else { throw fault("a mapping is expected: \(expected)") }
        var members: [(name: String, place: YAMLPlace)] = []
        for (key, value) in mapping {
            let place = YAMLPlace(file: file, node: value, line: key.mark?.line ?? value.mark?.line ?? line)
            guard let name = key.scalar?.string else { throw place.fault("a key must be a text") }
            members.append((name, place))
        }
        return members
    }

    /// A mapping whose keys are known beforehand.
    func members(of name: String, among allowed: [String]) throws(ConfigurationError) -> [String: YAMLPlace] {
        var faults = FaultCollector()
        let found = try members(of: name, among: allowed, faults: &faults)
        try faults.finish()
        return found
    }

    /// The same for whoever goes on with the keys that are known.
    func members(of name: String, among allowed: [String], faults: inout FaultCollector) throws(ConfigurationError) -> [String: YAMLPlace] {
        let list = allowed.joined(separator: ", ")
        var found: [String: YAMLPlace] = [:]
        for (key, place) in try members("\(name) with \(list)") {
            found[key] = faults.collect { () throws(ConfigurationError) in
                guard allowed.contains(key) else { throw place.unknown("key", key, " in \(name)", among: allowed) }
                return place
            }
        }
        return found
    }

    /// The elements of a list.
    func elements(_ expected: String) throws(ConfigurationError) -> [YAMLPlace] {
        guard let sequence = node.sequence else { throw fault("a list is expected: \(expected)") }
        return sequence.map { YAMLPlace(file: file, node: $0, line: $0.mark?.line ?? line) }
    }

    /// A list of texts; one that stands alone is a list too.
    func texts(_ expected: String) throws(ConfigurationError) -> [String] {
        guard isList else { return [try text(expected)] }
        var texts: [String] = []
        for element in try elements(expected) { texts.append(try element.text(expected)) }
        return texts
    }

    func text(_ expected: String) throws(ConfigurationError) -> String {
        guard let scalar = node.scalar else { throw fault("a single value is expected: \(expected)") }
        guard !scalar.string.isEmpty, node.null == nil else { throw fault("a value is missing: \(expected)") }
        return scalar.string
    }

    func number(_ expected: String) throws(ConfigurationError) -> Double {
        let text = try text(expected)
        guard let number = Double(text), number.isFinite else { throw notAllowed(text, expected) }
        return number
    }

    func flag() throws(ConfigurationError) -> Bool {
        switch try text("true or false") {
        case "true": return true
        case "false": return false
        case let text: throw notAllowed(text, "true, false")
        }
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) throws(ConfigurationError) -> Choice {
        let allowed = type.allCases.map(\.rawValue).joined(separator: ", ")
        let text = try text(allowed)
        guard let choice = Choice(rawValue: text) else { throw notAllowed(text, allowed) }
        return choice
    }

    /// A name that there is not, with the one that may have been meant.
    ///
    /// - Parameter where: such as " in the file".
    func unknown(_ thing: String, _ name: String, _ where: String = "", among allowed: [String]) -> ConfigurationError {
        let question = Spelling.question(for: name, among: allowed).map { "; \($0)" } ?? ""
        return fault("unknown \(thing) '\(ItemFault.shown(name))'\(`where`); allowed: \(allowed.joined(separator: ", "))\(question)")
    }

    func notAllowed(_ text: String, _ allowed: String) -> ConfigurationError {
        fault("'\(ItemFault.shown(text))' is not allowed; allowed: \(allowed)")
    }

    /// Where a path leads, as far as the file has what it names.
    func place(at path: [String]) -> YAMLPlace {
        var place = self
        for step in path {
            if let member = place.node.mapping?.first(where: { $0.key.string == step }) {
                place = YAMLPlace(file: file, node: member.value, line: member.key.mark?.line ?? place.line)
            } else if let sequence = place.node.sequence, let index = Int(step), sequence.indices.contains(index) {
                place = YAMLPlace(file: file, node: sequence[index], line: sequence[index].mark?.line ?? place.line)
            }
        }
        return place
    }
}
