internal import IntertwinePrimitives

extension ServiceConfiguration {
    /// The settings that differ from their defaults, as YAML with the same meaning. Secrets are comments that name their variables.
    public var changes: String {
        let defaults = Set(ServiceConfiguration().settings.map { Value($0) })
        let changed = settings.filter { !defaults.contains(Value($0)) }
        let secrets = changed.filter(\.isSecret).map { setting in
            "# \(setting.key) is a secret: set it as \(SettingName(setting.key).environmentVariable).\n"
        }
        let lines = Self.lines(changed.filter { !$0.isSecret }.map { (SettingName($0.key).components[...], $0) }, indent: "")
        return changed.isEmpty ? "# All settings have their defaults.\n" : (secrets + lines).joined()
    }

    private struct Value: Hashable {
        let key: String
        let value: String
        let elements: [String]?

        init(_ setting: Setting) {
            (key, value, elements) = (setting.key, setting.value, setting.elements)
        }
    }

    private static func lines(_ settings: [(path: ArraySlice<String>, setting: Setting)], indent: String) -> [String] {
        var names: [String] = []
        for name in settings.compactMap(\.path.first) where !names.contains(name) { names.append(name) }
        return names.flatMap { name -> [String] in
            let members = settings.filter { $0.path.first == name }
            if let setting = members.first(where: { $0.path.count == 1 })?.setting {
                return ["\(indent)\(name): \(text(of: setting))\n"]
            }
            return ["\(indent)\(name):\n"] + lines(members.map { ($0.path.dropFirst(), $0.setting) }, indent: indent + "  ")
        }
    }

    private static func text(of setting: Setting) -> String {
        setting.elements.map { "[\($0.map(scalar).joined(separator: ", "))]" } ?? scalar(setting.value)
    }

    /// A text that YAML could read otherwise is written as a JSON string.
    private static func scalar(_ text: String) -> String {
        let isWord = text.wholeMatch(of: /(0|[1-9][0-9]{0,15})(ms|s|min|h|d|KiB|MiB|GiB)?|[A-Za-z\/][A-Za-z0-9\/._-]*/) != nil
        let reserved = ["null", "yes", "no", "on", "off", "y", "n"]
        if isWord, !reserved.contains(text.lowercased()) { return text }
        var bytes: [UInt8] = []
        bytes.append(jsonString: text.utf8)
        return String(decoding: bytes, as: UTF8.self)
    }
}
