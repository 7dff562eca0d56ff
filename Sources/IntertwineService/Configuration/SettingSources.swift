internal import Foundation
internal import Yams

/// The sources of settings by precedence: flags, environment, file.
///
/// ```swift
/// let sources = try SettingSources(flags: ["server.port": "9000"])
/// let configuration = try ServiceConfiguration(sources)
/// configuration.server.port  // 9000
/// ```
public struct SettingSources: Sendable {
    /// The default configuration file, used if neither a flag nor the environment names one: the file of the working folder or the system's.
    public static var defaultFile: String {
        let candidates = ["Config/intertwine.yaml", "/etc/intertwine/intertwine.yaml"]
        return candidates.first { FileManager.default.fileExists(atPath: $0) } ?? candidates[0]
    }

    private enum Value {
        case text(String)
        case list([String])
        case other

        init(_ node: Node) {
            if let scalar = node.scalar {
                self = .text(scalar.string)
            } else {
                let texts = (node.sequence ?? []).map { $0.scalar?.string }
                self = texts.contains(nil) ? .other : .list(texts.compactMap { $0 })
            }
        }
    }

    private let flags: [SettingName: String]
    private let environment: [String: String]
    private var file: (path: String, values: [SettingName: Value]) = ("", [:])
    private let written: [SettingKey]
    private let environmentVariables: [String]
    let bucketCredentials: BucketCredentials?

    /// Reads the settings of the command line, the environment and a file, in this order of precedence.
    ///
    /// - Parameters:
    ///   - flags: Values of the command line by canonical key.
    ///   - environment: The environment variables; nil for those of the process.
    ///   - file: The configuration file, which may be a pipe; nil for `INTERTWINE_CONFIG`, or else ``defaultFile`` if it exists.
    /// - Throws: `ConfigurationError` if the file is missing, cannot be read or is no YAML mapping.
    public init(
        flags: [String: String] = [:], environment: [String: String]? = nil, file: String? = nil
    ) throws(ConfigurationError) {
        let environment = (environment ?? ProcessInfo.processInfo.environment).filter {
            !Self.isServiceLink($0.key, value: $0.value)
        }
        let named = file ?? Self.file(in: environment)
        let path = named ?? Self.defaultFile
        self.environment = environment
        self.flags = Dictionary(flags.map { (SettingName(spelled: $0.key), $0.value) }, uniquingKeysWith: { _, last in last })
        var written = flags.keys.map { SettingKey(spelled: $0, origin: .flag) }
        if named != nil || FileManager.default.fileExists(atPath: path) {
            self.file.path = path
            for (spelled, node) in try Self.leaves(of: YAMLFile.text(at: path), in: path) {
                // A key without a value counts as absent.
                let key = SettingKey(spelled: spelled, origin: .file(path), isEmpty: node.null != nil)
                written.append(key)
                if key.isRead, !key.isEmpty { self.file.values[key.name] = Value(node) }
            }
        }
        self.written = written
        bucketCredentials = BucketCredentials(environment: environment)
        environmentVariables = environment.keys.filter { $0.hasPrefix(SettingName.environmentPrefix) && $0 != "INTERTWINE_CONFIG" }.sorted()
    }

    /// Returns the file that the environment names; nil if the variable is absent or empty.
    public static func file(in environment: [String: String]) -> String? {
        environment["INTERTWINE_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    }

    func texts(_ name: SettingName, isList: Bool) throws(ConfigurationError) -> (texts: [String], origin: SettingOrigin)? {
        guard let (value, origin) = value(name) else { return nil }
        switch (value, origin) {
        case (.text(let text), _) where !isList: return ([text], origin)
        case (.list(let list), _) where isList: return (list, origin)
        case (.text(let text), .flag), (.text(let text), .environment):
            // An empty text is an empty list; an empty element between two commas is a mistake.
            let elements = text.split(separator: ",", omittingEmptySubsequences: false)
            let isEmpty = elements.count == 1 && text.allSatisfy(\.isWhitespace)
            return (isEmpty ? [] : elements.map { $0.trimmingCharacters(in: .whitespaces) }, origin)
        default: throw ConfigurationError("\(name.key) (\(origin)): a \(isList ? "list" : "single value") is expected")
        }
    }

    private func value(_ name: SettingName) -> (Value, SettingOrigin)? {
        if let text = flags[name] { return (.text(text), .flag) }
        if let text = environment[name.environmentVariable] { return (.text(text), .environment) }
        return file.values[name].map { ($0, .file(file.path)) }
    }

    func refuseUnknown(besides known: [SettingName]) throws(ConfigurationError) {
        var faults = ErrorCollector()
        let names = Set(known)
        let sections = Set(
            known.flatMap { name in (1..<max(1, name.components.count)).map { name.components.prefix($0).joined(separator: ".") } })
        for key in written where !names.contains(key.name) || !key.isRead {
            faults.collect {
                guard key.isRead, sections.contains(key.name.key) else {
                    throw ConfigurationError.unknown(
                        key.spelled, from: key.origin, known: known.map(\.key) + (key.isSection ? sections : []))
                }
                // A section without keys leaves all its defaults in effect.
                guard key.isEmpty else { throw ConfigurationError("\(key.spelled): is a section of keys (\(key.origin)), not a setting") }
            }
        }
        let variables = Set(known.map(\.environmentVariable))
        for variable in environmentVariables where !variables.contains(variable) {
            faults.reasons += ConfigurationError.unknown(variable, from: .environment, known: Array(variables)).reasons
        }
        faults.collect { try refuseRepeated() }
        try faults.finish()
    }

    /// Throws for keys that occur twice in one source with different spellings, because the effective value would be ambiguous.
    private func refuseRepeated() throws(ConfigurationError) {
        let origins = Dictionary(grouping: written) { "\($0.origin) \($0.name.key)" }.values.filter { $0.count > 1 }
        let reasons = origins.map { keys in
            "\(keys.map(\.spelled).sorted().joined(separator: " and ")): the same setting twice (\(keys[0].origin))"
        }
        if let error = ConfigurationError(reasons.sorted()) { throw error }
    }

    private static func leaves(of text: String, in path: String) throws(ConfigurationError) -> [(key: String, node: Node)] {
        guard let root = try YAMLFile.node(of: text, from: path) else { return [] }
        guard let mapping = root.mapping else { throw ConfigurationError("\(path): the file must hold a mapping of keys") }
        return leaves(of: mapping, under: [])
    }

    private static func leaves(of mapping: Node.Mapping, under path: [String]) -> [(key: String, node: Node)] {
        mapping.flatMap { key, value in
            let path = path + [key.string ?? "?"]
            return value.mapping.map { leaves(of: $0, under: path) } ?? [(path.joined(separator: "."), value)]
        }
    }

    /// True for the variables that Kubernetes adds to the environment of a pod for each service of its namespace.
    private static func isServiceLink(_ variable: String, value: String) -> Bool {
        guard variable.hasPrefix(SettingName.environmentPrefix) else { return false }
        // `INTERTWINE_ADMIN_PORT` is also a setting.
        if variable.hasSuffix("_PORT"), ["tcp://", "udp://", "sctp://"].contains(where: value.hasPrefix) { return true }
        return variable.contains(/_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?$/)
    }
}

extension ConfigurationError {
    fileprivate static func unknown(_ key: String, from origin: SettingOrigin, known: [String]) -> ConfigurationError {
        let hint = Spelling.question(for: key, among: known) ?? "Config/intertwine.yaml lists all keys"
        return ConfigurationError("\(key): unknown key (\(origin)); \(hint)")
    }
}

private struct SettingKey {
    let name: SettingName
    let spelled: String
    let origin: SettingOrigin
    let isEmpty: Bool

    init(spelled: String, origin: SettingOrigin, isEmpty: Bool = false) {
        name = SettingName(spelled: spelled)
        self.spelled = spelled
        self.origin = origin
        self.isEmpty = isEmpty
    }

    var isSection: Bool { name.components.count == 1 }

    var isRead: Bool {
        guard case .file = origin else { return true }
        return spelled == name.key || spelled == name.camelCaseComponents.joined(separator: ".")
    }
}
