internal import Foundation
internal import IntertwinePrimitives

extension ServiceConfiguration {
    /// The settings that differ from their defaults, as YAML with the same meaning. Secrets are comments that name their variables.
    public var changes: String {
        let changed = settings.filter { !$0.isDefault }
        let secrets = changed.filter(\.isSecret).map { setting in
            "# \(setting.key) is a secret: set it as \(SettingName(setting.key).environmentVariable).\n"
        }
        let lines = Self.lines(changed.filter { !$0.isSecret }.map { (SettingName($0.key).components[...], $0) }, indent: "")
        return changed.isEmpty ? "# All settings have their defaults.\n" : (secrets + lines).joined()
    }

    package static var reference: String {
        let rows = ServiceConfiguration().settings.map { setting in
            [
                "key": setting.key, "default": text(of: setting), "allowed": setting.allowed, "text": setting.text,
                "effect": setting.isReloaded ? "while running" : "after a restart",
            ]
        }
        let sections = sectionTexts.map { ["key": $0.key, "text": $0.value] }
        return (try? JSONEncoder().encode(sections + rows)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func lines(_ settings: [(path: ArraySlice<String>, setting: ListedSetting)], indent: String) -> [String] {
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

    private static func text(of setting: ListedSetting) -> String {
        setting.isList ? "[\(setting.elements.map(scalar).joined(separator: ", "))]" : scalar(setting.value)
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
