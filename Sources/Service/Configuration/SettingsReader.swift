/// Reads settings one by one and remembers each, so that one pass over the configuration knows every key there is.
struct SettingsReader {
    private let sources: SettingSources
    private(set) var settings: [Setting] = []
    private var names: [SettingName] = []

    init(_ sources: SettingSources) {
        self.sources = sources
    }

    /// The value of a key, or its default.
    ///
    /// - Parameters:
    ///   - allowed: what may be written, where that is narrower than the type's own words.
    ///   - isAllowed: what the type alone does not check.
    mutating func read<Value: SettingValue>(
        _ key: String, default fallback: Value, allowed: String = Value.allowed, secret: Bool = false,
        where isAllowed: (Value) -> Bool = { _ in true }
    ) throws -> Value {
        let name = SettingName(key)
        names.append(name)
        guard let (text, origin) = try sources.text(name) else {
            settings.append(Setting(key: key, value: fallback.setting, origin: .default, isSecret: secret))
            return fallback
        }
        guard let value = Value(setting: text), isAllowed(value) else {
            throw ConfigurationError.invalid(key, secret ? "(secret)" : text, from: origin, allowed: allowed)
        }
        settings.append(Setting(key: key, value: value.setting, origin: origin, isSecret: secret))
        return value
    }

    mutating func read(_ key: String, default fallback: Int, in range: ClosedRange<Int>) throws -> Int {
        try read(
            key, default: fallback, allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            where: { range.contains($0) })
    }

    mutating func read<Choice: RawRepresentable & CaseIterable>(_ key: String, default fallback: Choice) throws -> Choice
    where Choice.RawValue == String {
        let words = Choice.allCases.map(\.rawValue)
        let word = try read(key, default: fallback.rawValue, allowed: words.joined(separator: ", "), where: { words.contains($0) })
        return Choice(rawValue: word) ?? fallback
    }

    /// A list of texts; `check` returns what is allowed where an element is not.
    mutating func readList(
        _ key: String, default fallback: [String], allowed: String = "a list of texts", where isAllowed: (String) -> Bool = { _ in true }
    ) throws -> [String] {
        let name = SettingName(key)
        names.append(name)
        let (list, origin) = try sources.list(name) ?? (fallback, .default)
        if let wrong = list.first(where: { $0.isEmpty || !isAllowed($0) }) {
            throw ConfigurationError.invalid(key, wrong, from: origin, allowed: allowed)
        }
        settings.append(Setting(key: key, value: list.joined(separator: ","), origin: origin, isSecret: false))
        return list
    }

    /// Throws for the first key that is written down somewhere and that nothing has read.
    func finish() throws {
        try sources.refuseUnknown(besides: names)
    }
}
