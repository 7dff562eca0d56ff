internal import Foundation
internal import IntertwineFeed
internal import IntertwinePrimitives
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
        return YAMLNode(file: path, yaml: root, mark: root.mark)
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
        case .scanner(_, _, let mark, _) where isTab(mark, in: text): "\(mark): a tab; YAML is indented with spaces"
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _): "\(mark): \(problem)"
        case .composer(let context, let problem, let mark, _): "\(mark): \(context.map { "\($0.text), " } ?? "")\(problem)"
        case .reader(let problem, let offset, _, _):
            "\(text.prefix(offset ?? 0).count { $0.isNewline } + 1): \(problem)"
        case .duplicatedKeysInMapping(let duplicates, let context):
            "\(place(ofSecond: duplicates.first ?? "", after: context.mark, in: text)): '\(duplicates.first ?? "")' occurs twice"
        default: "1: \(error)"
        }
    }

    private static func isTab(_ mark: Mark, in text: String) -> Bool {
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(mark.line - 1).first
        return line?.unicodeScalars.dropFirst(mark.column - 1).first == "\t"
    }

    private static func place(ofSecond key: String, after first: Mark, in text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated().dropFirst(max(0, first.line)) {
            let indentation = line.prefix { $0 == " " }.count
            if indentation + 1 == first.column, line.dropFirst(indentation).hasPrefix(key + ":") { return "\(index + 1):\(first.column)" }
        }
        return "\(first)"
    }
}

struct YAMLNode {
    let file: String
    let yaml: Node
    /// The place of the key, or of an element of a list.
    let mark: Mark?

    var isMapping: Bool { yaml.mapping != nil }
    var isList: Bool { yaml.sequence != nil }
    var isEmptyText: Bool { yaml.scalar.map { $0.string.isEmpty && [.singleQuoted, .doubleQuoted].contains($0.style) } ?? false }
    var place: String { "\(file):\(mark.map { "\($0)" } ?? "1")" }

    func error(_ reason: String) -> ConfigurationError {
        ConfigurationError("\(place): \(reason)".replacing("\n", with: " "))
    }

    func unknown(_ thing: String, _ name: String, _ where: String = "", among allowed: [String]) -> ConfigurationError {
        let question = Spelling.question(for: name, among: allowed).map { "; \($0)" } ?? ""
        return error("unknown \(thing) '\(ItemError.shown(name))'\(`where`); allowed: \(allowed.joined(separator: ", "))\(question)")
    }

    func notAllowed(_ text: String, _ allowed: String) -> ConfigurationError {
        error("'\(ItemError.shown(text))' is not allowed; allowed: \(allowed)")
    }

    private func child(_ yaml: Node, at mark: Mark?) -> YAMLNode {
        YAMLNode(file: file, yaml: yaml, mark: mark ?? yaml.mark ?? self.mark)
    }

    func node(at path: [String]) -> YAMLNode {
        path.reduce(self) { node, step in
            let member = node.yaml.mapping?.first { $0.key.string == step }
            if let member { return node.child(member.value, at: member.key.mark) }
            guard let sequence = node.yaml.sequence, let index = Int(step), sequence.indices.contains(index) else { return node }
            return node.child(sequence[index], at: nil)
        }
    }
}

extension YAMLNode {
    func members(_ expected: String) throws -> [(name: String, node: YAMLNode)] {
        guard let mapping = yaml.mapping else { throw error("a mapping is expected: \(expected)") }
        return try mapping.map { key, value in
            let node = child(value, at: key.mark)
            guard let name = key.scalar?.string else { throw node.error("a key must be a text") }
            return (name, node)
        }
    }

    /// Reads all members, and throws all their errors together.
    func each<Value>(_ expected: String, _ read: (String, YAMLNode) throws -> Value) throws -> [Value] {
        var faults = ErrorCollector()
        let values = try members(expected).compactMap { name, node in faults.collect { try read(name, node) } }
        try faults.finish()
        return values
    }

    func members(of name: String, among allowed: [String]) throws -> YAMLMembers {
        var faults = ErrorCollector()
        let members = try members(of: name, among: allowed, errors: &faults)
        try faults.finish()
        return members
    }

    func members(of name: String, among allowed: [String], errors: inout ErrorCollector) throws -> YAMLMembers {
        var found: [String: YAMLNode] = [:]
        for (key, node) in try members("\(name) with \(allowed.joined(separator: ", "))") {
            found[key] = node
            if !allowed.contains(key) { errors.reasons += node.unknown("key", key, " in \(name)", among: allowed).reasons }
        }
        return YAMLMembers(node: self, members: found)
    }

    /// The elements of a list; another node is its own only element.
    var elements: [YAMLNode] { yaml.sequence.map { $0.map { child($0, at: nil) } } ?? [self] }

    func elements(_ expected: String) throws -> [YAMLNode] {
        guard isList else { throw error("a list is expected: \(expected)") }
        return elements
    }

    func texts(_ expected: String) throws -> [String] { try elements.map { try $0.text(expected) } }

    func text(_ expected: String) throws -> String {
        guard let scalar = yaml.scalar else { throw error("a single value is expected: \(expected)") }
        guard !scalar.string.isEmpty, yaml.null == nil else { throw error("a value is missing: \(expected)") }
        return scalar.string
    }

    func value<Value>(_ allowed: String, _ parse: (String) throws -> Value?) throws -> Value {
        let text = try text(allowed)
        guard let value = try parse(text) else { throw notAllowed(text, allowed) }
        return value
    }

    func value<Value: SettingValue & Comparable>(in range: ClosedRange<Value>) throws -> Value {
        try value(Value.allowed(in: range)) { Value(setting: $0).flatMap { range.contains($0) ? $0 : nil } }
    }

    func number() throws -> Double { try value("a number") { Double($0).flatMap { $0.isFinite ? $0 : nil } } }

    func flag() throws -> Bool { try value("true, false") { Bool(word: $0) } }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) throws -> Choice {
        try value(type.allCases.map(\.rawValue).joined(separator: ", ")) { Choice(rawValue: $0) }
    }
}

/// The members of a mapping with known keys.
struct YAMLMembers {
    fileprivate let node: YAMLNode
    fileprivate let members: [String: YAMLNode]

    subscript(key: String) -> YAMLNode? { members[key] }
    var keys: Set<String> { Set(members.keys) }

    func required(_ key: String, _ expected: String) throws -> YAMLNode {
        guard let member = members[key] else { throw node.error("\(key) is missing: \(expected)") }
        return member
    }

    func text(_ key: String, _ expected: String) throws -> String { try required(key, expected).text(expected) }
}

extension ErrorCollector {
    mutating func collect<Value>(_ node: YAMLNode?, _ read: (YAMLNode) throws -> Value) -> Value? {
        node.flatMap { node in collect { try read(node) } }
    }
}
