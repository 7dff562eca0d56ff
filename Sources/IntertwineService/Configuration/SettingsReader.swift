/// Reads all settings in one pass: takes each value from its source, checks it and records it.
struct SettingsReader {
    private let sources: SettingSources?
    private(set) var settings: [Setting] = []
    private(set) var errors = ErrorCollector()
    private var names: [SettingName] = []

    init(_ sources: SettingSources?) {
        self.sources = sources
    }

    /// `secret`: True if the value must not be shown.
    /// `isHidden`: Returns true if a text must not be shown.
    mutating func read<Value: SettingValue>(
        _ key: String, _ value: inout Value, allowed: String = Value.allowed, secret: Bool = false,
        hidden isHidden: (String) -> Bool = { _ in false }, where isAllowed: (Value) -> Bool = { _ in true }
    ) {
        let name = SettingName(key)
        names.append(name)
        let found = errors.collect { () throws(ConfigurationError) in
            let (text, origin) = try sources?.text(name) ?? (value.setting, sources == nil ? .program : .default)
            guard !text.utf8.contains(0), let read = Value(setting: text), isAllowed(read) else {
                throw ConfigurationError.invalid(key, secret || isHidden(text) ? "(secret)" : text, from: origin, allowed: allowed)
            }
            return (read, origin)
        }
        if let found, found.1 != .program, found.1 != .default { value = found.0 }
        let isSecret = secret || isHidden(value.setting)
        settings.append(Setting(key: key, value: value.setting, origin: found?.1 ?? .default, isSecret: isSecret))
    }

    mutating func read(_ key: String, _ value: inout Int, in range: ClosedRange<Int>) {
        read(
            key, &value, allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)", where: { range.contains($0) })
    }

    mutating func read(_ key: String, _ value: inout Duration, in range: ClosedRange<Duration>) {
        read(
            key, &value, allowed: "\(Duration.allowed), from \(range.lowerBound.setting) to \(range.upperBound.setting)",
            where: { range.contains($0) })
    }

    mutating func read(_ key: String, _ value: inout ByteCount, in range: ClosedRange<Int>) {
        let ends = [range.lowerBound, range.upperBound].map { ByteCount(integerLiteral: $0).setting }
        read(
            key, &value, allowed: "\(ByteCount.allowed), from \(ends[0]) to \(ends[1])", where: { range.contains($0.bytes) })
    }

    mutating func read<Choice: RawRepresentable & CaseIterable>(_ key: String, _ value: inout Choice) where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        var word = value.rawValue
        read(key, &word, allowed: words.joined(separator: ", "), where: { words.contains($0) })
        value = Choice(rawValue: word) ?? value
    }

    mutating func read<Element: SettingValue>(
        _ key: String, _ value: inout [Element], allowed: String = "a list of texts", where isAllowed: (Element) -> Bool = { _ in true }
    ) {
        let name = SettingName(key)
        names.append(name)
        let found = errors.collect { () throws(ConfigurationError) in
            let (texts, origin) = try sources?.list(name) ?? (value.map(\.setting), sources == nil ? .program : .default)
            var list: [Element] = []
            for text in texts {
                guard !text.isEmpty, !text.utf8.contains(0), let element = Element(setting: text), isAllowed(element) else {
                    throw ConfigurationError.invalid(key, text, from: origin, allowed: allowed)
                }
                list.append(element)
            }
            return (list, origin)
        }
        if let found { value = found.0 }
        let elements = value.map(\.setting)
        settings.append(
            Setting(
                key: key, value: elements.joined(separator: ","), elements: elements, origin: found?.1 ?? .default, isSecret: false))
    }

    mutating func check(_ isRight: Bool, _ reason: @autoclosure () -> String) {
        if !isRight { errors.collect { () throws(ConfigurationError) in throw ConfigurationError(reason()) } }
    }

    mutating func finish() {
        if let sources { errors.collect { () throws(ConfigurationError) in try sources.refuseUnknown(besides: names) } }
    }
}

/// A setting with its effective value, for `check-config` and for the log line at the start.
package struct Setting: Sendable, Hashable {
    package var key: String
    package var value: String
    package var elements: [String]?
    package var origin: SettingOrigin
    var isSecret: Bool

    /// The value, or its replacement if the value must not be shown.
    package var shown: String {
        isSecret && !value.isEmpty ? "(secret)" : value
    }
}

package enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case flag
    case environment
    case file(String)
    case program
    case `default`

    package var description: String {
        switch self {
        case .flag: "flag"
        case .environment: "environment"
        case .file(let path): path
        case .program: "program"
        case .default: "default"
        }
    }
}

extension ConfigurationError {
    static func invalid(_ key: String, _ value: String, from origin: SettingOrigin, allowed: String) -> ConfigurationError {
        ConfigurationError("\(key): '\(value)' (\(origin)) is not allowed; allowed: \(allowed)")
    }

    static func unknown(_ key: String, from origin: SettingOrigin, known: [String]) -> ConfigurationError {
        let hint = Spelling.question(for: key, among: known) ?? "Config/intertwine.yaml lists all keys"
        return ConfigurationError("\(key): unknown key (\(origin)); \(hint)")
    }
}
