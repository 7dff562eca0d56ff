internal import Configuration
internal import Foundation
internal import IntertwineDeclarations
internal import IntertwineSettings
internal import Yams

/// The sources of settings by precedence: flags, environment, file.
///
/// It uses the providers of swift-configuration. They do not list the keys of a file, so the keys are read with a YAML parser too.
///
/// ```swift
/// let sources = try await SettingSources(flags: ["server.port": "9000"])
/// let configuration = try ServiceConfiguration(sources)
/// configuration.server.port  // 9000
/// ```
public struct SettingSources: Sendable {
    /// The default configuration file, used if neither a flag nor the environment names one: the file of the working folder or the system's.
    public static var defaultFile: String {
        let candidates = ["Config/intertwine.yaml", "/etc/intertwine/intertwine.yaml"]
        return candidates.first { FileManager.default.fileExists(atPath: $0) } ?? candidates[0]
    }

    private let providers: [(origin: SettingOrigin, provider: any ConfigSnapshot)]
    /// Every key in a source. A key that no setting has is a fault.
    private let written: [SettingKey]
    /// The keys of the file that have no value, and count as absent.
    private let emptied: Set<SettingName>
    private let environmentVariables: [String]
    /// The credentials of buckets in the environment.
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
    ) async throws {
        let environment = (environment ?? ProcessInfo.processInfo.environment).filter {
            !ServiceLink.isServiceLink($0.key, value: $0.value)
        }
        let named = file ?? Self.file(in: environment)
        let path = named ?? Self.defaultFile
        var providers: [(SettingOrigin, any ConfigSnapshot)] = [
            (
                .flag,
                InMemoryProvider(
                    name: "flags",
                    values: Dictionary(
                        flags.map {
                            (AbsoluteConfigKey(SettingName(spelled: $0.key).components), ConfigValue(.string($0.value), isSecret: false))
                        },
                        uniquingKeysWith: { _, last in last })
                ).snapshot()
            ),
            (.environment, EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "intertwine").snapshot()),
        ]
        var written = flags.keys.map { SettingKey(spelled: $0, origin: .flag) }
        if named != nil || FileManager.default.fileExists(atPath: path) {
            let text = try YAMLFile.text(at: path)
            let keys = try Self.keys(in: text, of: path)
            // The provider rejects a file with comments only, which is valid.
            if !keys.isEmpty {
                do {
                    let bytes = Array(YAMLFile.withoutBOM(text).utf8)
                    providers.append((.file(path), try YAMLSnapshot(data: bytes.span.bytes, providerName: path, parsingOptions: .default)))
                } catch {
                    throw ConfigurationError("\(path): \(error)".replacing("\n", with: " "))
                }
            }
            written += keys.map { SettingKey(spelled: $0.key, origin: .file(path), isEmpty: $0.isEmpty) }
        }
        self.providers = providers
        self.written = written
        emptied = Set(written.filter(\.isEmpty).map(\.name))
        bucketCredentials = BucketCredentials(environment: environment)
        environmentVariables = environment.keys.filter { $0.hasPrefix(SettingName.environmentPrefix) && $0 != "INTERTWINE_CONFIG" }.sorted()
    }

    /// Returns the file that the environment names; nil if the variable is absent or empty.
    public static func file(in environment: [String: String]) -> String? {
        environment["INTERTWINE_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the value of a key with the highest precedence, as a text.
    func text(_ name: SettingName) throws(ConfigurationError) -> (value: String, origin: SettingOrigin)? {
        try lookUp(name, .string) { if case .string(let text) = $0 { text } else { nil } }
    }

    /// Returns the value of a key with the highest precedence, as a list. In flags and in the environment, commas separate the elements.
    func list(_ name: SettingName) throws(ConfigurationError) -> (value: [String], origin: SettingOrigin)? {
        for (origin, provider) in providers {
            let isFile = if case .file = origin { true } else { false }
            let found: [String]? =
                if isFile {
                    try value(of: name, .stringArray, from: provider, origin) { if case .stringArray(let list) = $0 { list } else { nil } }
                } else {
                    try value(of: name, .string, from: provider, origin) { content in
                        guard case .string(let text) = content else { return nil }
                        // An empty text is an empty list; an empty element between two commas is a mistake.
                        let elements = text.split(separator: ",", omittingEmptySubsequences: false)
                        return elements.count == 1 && text.allSatisfy(\.isWhitespace)
                            ? [] : elements.map { $0.trimmingCharacters(in: .whitespaces) }
                    }
                }
            if let found { return (found, origin) }
        }
        return nil
    }

    /// Throws for all keys in a source that are not in `known`, and for keys that occur twice in one source.
    func refuseUnknown(besides known: [SettingName]) throws(ConfigurationError) {
        var faults = ErrorCollector()
        let names = Set(known)
        let sections = Set(
            known.flatMap { name in (1..<max(1, name.components.count)).map { name.components.prefix($0).joined(separator: ".") } })
        for key in written where !names.contains(key.name) || !key.isRead {
            faults.collect { () throws(ConfigurationError) in
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
            faults.collect { () throws(ConfigurationError) in
                throw ConfigurationError.unknown(variable, from: .environment, known: Array(variables))
            }
        }
        faults.collect { () throws(ConfigurationError) in try refuseRepeated() }
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

    private func lookUp<Value>(
        _ name: SettingName, _ type: ConfigType, _ extract: (ConfigContent) -> Value?
    ) throws(ConfigurationError) -> (value: Value, origin: SettingOrigin)? {
        for (origin, provider) in providers {
            if let found = try value(of: name, type, from: provider, origin, extract) { return (found, origin) }
        }
        return nil
    }

    private func value<Value>(
        of name: SettingName, _ type: ConfigType, from provider: any ConfigSnapshot, _ origin: SettingOrigin,
        _ extract: (ConfigContent) -> Value?
    ) throws(ConfigurationError) -> Value? {
        if case .file = origin, emptied.contains(name) { return nil }
        for components in Set([name.components, name.camelCaseComponents]) {
            do {
                if let value = try provider.value(forKey: AbsoluteConfigKey(components), type: type).value { return extract(value.content) }
            } catch {
                throw ConfigurationError(
                    "\(name.key) (\(origin)): \(type == .stringArray ? "a list is expected" : "a single value is expected")")
            }
        }
        return nil
    }

    private static func keys(in text: String, of path: String) throws(ConfigurationError) -> [(key: String, isEmpty: Bool)] {
        guard let root = try YAMLFile.node(of: text, from: path) else { return [] }
        guard let mapping = root.mapping else { throw ConfigurationError("\(path): the file must hold a mapping of keys") }
        return leaves(of: mapping, under: [])
    }

    private static func leaves(of mapping: Node.Mapping, under path: [String]) -> [(key: String, isEmpty: Bool)] {
        mapping.flatMap { key, value in
            let path = path + [key.string ?? "?"]
            return value.mapping.map { leaves(of: $0, under: path) } ?? [(path.joined(separator: "."), value.null != nil)]
        }
    }
}

/// The variables that Kubernetes adds to the environment of a pod for each service of its namespace.
///
/// The variables of a service with the name `intertwine` begin with the prefix of settings.
enum ServiceLink {
    /// Returns true for a variable of a service.
    ///
    /// A name with the suffix `_PORT` counts only with a URL as its value, because `INTERTWINE_ADMIN_PORT` is also a setting.
    static func isServiceLink(_ variable: String, value: String) -> Bool {
        guard variable.hasPrefix(SettingName.environmentPrefix) else { return false }
        if variable.hasSuffix("_PORT"), ["tcp://", "udp://", "sctp://"].contains(where: value.hasPrefix) { return true }
        return variable.contains(/_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_[A-Z]+)?$/)
    }
}

/// A key as it is spelled in a source.
private struct SettingKey {
    let name: SettingName
    let spelled: String
    let origin: SettingOrigin
    /// A Boolean value indicating whether the key has no value.
    let isEmpty: Bool

    init(spelled: String, origin: SettingOrigin, isEmpty: Bool = false) {
        name = SettingName(spelled: spelled)
        self.spelled = spelled
        self.origin = origin
        self.isEmpty = isEmpty
    }

    /// A Boolean value indicating whether the key can be a section without keys.
    var isSection: Bool { name.components.count == 1 }

    /// A Boolean value indicating whether the spelling is one that lookups find: any spelling of a flag, kebab-case or camelCase in a file.
    var isRead: Bool {
        guard case .file = origin else { return true }
        return spelled == name.key || spelled == name.camelCaseComponents.joined(separator: ".")
    }
}
