internal import Foundation
internal import IntertwineFeed
internal import Yams

/// A reader of YAML files, including pipes and devices, which reads once and reports errors with file and line.
enum YAMLFile {
    static func root(at path: String, of key: String? = nil) throws(ConfigurationError) -> YAMLNode {
        try root(of: text(at: path, of: key), from: path)
    }

    static func text(at path: String, of key: String? = nil) throws(ConfigurationError) -> String {
        do {
            return try TextFile.text(at: path)
        } catch {
            throw ConfigurationError("\(key.map { "\($0): " } ?? "")\(path): the file \(error.reason)")
        }
    }

    static func root(of text: String, from path: String) throws(ConfigurationError) -> YAMLNode {
        guard let root = try node(of: text, from: path) else { throw ConfigurationError("\(path):1: the file is empty") }
        return YAMLNode(file: path, yaml: root, line: root.mark?.line ?? 1)
    }

    static func node(of text: String, from path: String) throws(ConfigurationError) -> Node? {
        do {
            return try Yams.Parser(yaml: withoutBOM(text)).singleRoot()
        } catch {
            throw ConfigurationError("\(path):\(describe(error, in: text))".replacing("\n", with: " "))
        }
    }

    static func withoutBOM(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }

    private static func describe(_ error: any Error, in text: String) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            "\(mark.line): \(problem)"
        case .reader(let problem, let offset, _, _):
            "\(text.prefix(offset ?? 0).count { $0.isNewline } + 1): \(problem)"
        case .duplicatedKeysInMapping(let duplicates, let context):
            "\(line(ofSecond: duplicates.first ?? "", after: context.mark, in: text)): '\(duplicates.first ?? "")' occurs twice"
        default: "1: \(error)"
        }
    }

    private static func line(ofSecond key: String, after first: Mark, in text: String) -> Int {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated().dropFirst(max(0, first.line)) {
            let indentation = line.prefix { $0 == " " }.count
            if indentation + 1 == first.column, line.dropFirst(indentation).hasPrefix(key + ":") { return index + 1 }
        }
        return first.line
    }
}

struct YAMLNode {
    let file: String
    let yaml: Node
    let line: Int

    var isMapping: Bool { yaml.mapping != nil }
    var isList: Bool { yaml.sequence != nil }

    func error(_ reason: String) -> ConfigurationError {
        ConfigurationError("\(file):\(line): \(reason)".replacing("\n", with: " "))
    }

    func members(_ expected: String) throws(ConfigurationError) -> [(name: String, node: YAMLNode)] {
        guard let mapping = yaml.mapping else { throw error("a mapping is expected: \(expected)") }
        var members: [(name: String, node: YAMLNode)] = []
        for (key, value) in mapping {
            let node = YAMLNode(file: file, yaml: value, line: key.mark?.line ?? value.mark?.line ?? line)
            guard let name = key.scalar?.string else { throw node.error("a key must be a text") }
            members.append((name, node))
        }
        return members
    }

    func members(of name: String, among allowed: [String]) throws(ConfigurationError) -> [String: YAMLNode] {
        var faults = ErrorCollector()
        let found = try members(of: name, among: allowed, errors: &faults)
        try faults.finish()
        return found
    }

    func members(of name: String, among allowed: [String], errors: inout ErrorCollector) throws(ConfigurationError) -> [String: YAMLNode] {
        let list = allowed.joined(separator: ", ")
        var found: [String: YAMLNode] = [:]
        for (key, node) in try members("\(name) with \(list)") {
            found[key] = errors.collect { () throws(ConfigurationError) in
                guard allowed.contains(key) else { throw node.unknown("key", key, " in \(name)", among: allowed) }
                return node
            }
        }
        return found
    }

    func elements(_ expected: String) throws(ConfigurationError) -> [YAMLNode] {
        guard let sequence = yaml.sequence else { throw error("a list is expected: \(expected)") }
        return sequence.map { YAMLNode(file: file, yaml: $0, line: $0.mark?.line ?? line) }
    }

    func texts(_ expected: String) throws(ConfigurationError) -> [String] {
        guard isList else { return [try text(expected)] }
        var texts: [String] = []
        for element in try elements(expected) { texts.append(try element.text(expected)) }
        return texts
    }

    var isEmptyText: Bool {
        yaml.scalar.map { $0.string.isEmpty && [.singleQuoted, .doubleQuoted].contains($0.style) } ?? false
    }

    func text(_ expected: String) throws(ConfigurationError) -> String {
        guard let scalar = yaml.scalar else { throw error("a single value is expected: \(expected)") }
        guard !scalar.string.isEmpty, yaml.null == nil else { throw error("a value is missing: \(expected)") }
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

    func unknown(_ thing: String, _ name: String, _ where: String = "", among allowed: [String]) -> ConfigurationError {
        let question = Spelling.question(for: name, among: allowed).map { "; \($0)" } ?? ""
        return error("unknown \(thing) '\(ItemError.shown(name))'\(`where`); allowed: \(allowed.joined(separator: ", "))\(question)")
    }

    func notAllowed(_ text: String, _ allowed: String) -> ConfigurationError {
        error("'\(ItemError.shown(text))' is not allowed; allowed: \(allowed)")
    }

    func node(at path: [String]) -> YAMLNode {
        var node = self
        for step in path {
            if let member = node.yaml.mapping?.first(where: { $0.key.string == step }) {
                node = YAMLNode(file: file, yaml: member.value, line: member.key.mark?.line ?? node.line)
            } else if let sequence = node.yaml.sequence, let index = Int(step), sequence.indices.contains(index) {
                node = YAMLNode(file: file, yaml: sequence[index], line: sequence[index].mark?.line ?? node.line)
            }
        }
        return node
    }
}
