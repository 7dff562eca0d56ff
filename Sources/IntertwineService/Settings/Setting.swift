internal import Synchronization

/// A property of the configuration with its row: key, default, allowed values, effect of a change, and text.
///
/// Rows are read, checked, listed and described in the order of their declarations. A settings structure that is created while a
/// `SettingsReading` is current gets its values from there. `Documentation/reference/configuration.md` has the texts.
@propertyWrapper
public struct Setting<Value: Sendable>: Sendable {
    /// The value.
    public var wrappedValue: Value { didSet { origin = .program } }
    private var origin = SettingOrigin.default
    private let row: SettingRow<Value>

    private init(_ value: Value, _ row: SettingRow<Value>) {
        (wrappedValue, self.row) = (value, row)
        if let (value, origin) = SettingsReading.current?.value(of: row) { (wrappedValue, self.origin) = (value, origin) }
    }
}

enum SettingEffect: Sendable {
    case restart
    case reload
}

extension Setting where Value: SettingValue {
    /// `hidden`: Returns true if a text must not be shown. `read`: Returns the usual form of a value, nil for one that is not allowed.
    init(
        wrappedValue: Value, _ key: String, _ text: String, _ effect: SettingEffect = .restart, allowed: String = Value.allowed,
        hidden: @escaping @Sendable (String) -> Bool = { _ in false }, where isAllowed: @escaping @Sendable (Value) -> Bool = { _ in true },
        as read: @escaping @Sendable (Value) -> Value? = { $0 }
    ) {
        self.init(
            wrappedValue,
            SettingRow(
                key: key, text: text, allowed: allowed, isReloaded: effect == .reload, isList: false, isHidden: hidden,
                defaults: [wrappedValue.setting], parse: { Value(setting: $0[0]).flatMap { isAllowed($0) ? read($0) : nil } },
                print: { [$0.setting] }))
    }
}

extension Setting where Value: SettingValue & Comparable {
    init(wrappedValue: Value, _ key: String, _ text: String, _ effect: SettingEffect = .restart, in range: ClosedRange<Value>) {
        self.init(wrappedValue: wrappedValue, key, text, effect, allowed: Value.allowed(in: range), where: { range.contains($0) })
    }
}

extension SettingValue where Self: Comparable {
    static func allowed(in range: ClosedRange<Self>) -> String {
        "\(allowed)\(Self.self == Int.self ? "" : ",") from \(range.lowerBound.setting) to \(range.upperBound.setting)"
    }
}

extension Setting {
    init<Element: SettingValue>(
        wrappedValue: [Element], _ key: String, _ text: String, _ effect: SettingEffect = .restart, allowed: String = "a list of texts",
        where isAllowed: @escaping @Sendable (Element) -> Bool = { _ in true }
    ) where Value == [Element] {
        self.init(
            wrappedValue,
            SettingRow(
                key: key, text: text, allowed: allowed, isReloaded: effect == .reload, isList: true, isHidden: { _ in false },
                defaults: wrappedValue.map(\.setting),
                parse: { texts in
                    let elements = texts.compactMap { Element(setting: $0) }.filter(isAllowed)
                    return elements.count == texts.count ? elements : nil
                },
                print: { $0.map(\.setting) }))
    }
}

final class SettingRow<Value: Sendable>: Sendable {
    let key: String
    let text: String
    let allowed: String
    let isReloaded: Bool
    let isList: Bool
    let isHidden: @Sendable (String) -> Bool
    let defaults: [String]
    let parse: @Sendable (_ elements: [String]) -> Value?
    let print: @Sendable (Value) -> [String]

    init(
        key: String, text: String, allowed: String, isReloaded: Bool, isList: Bool, isHidden: @escaping @Sendable (String) -> Bool,
        defaults: [String], parse: @escaping @Sendable ([String]) -> Value?, print: @escaping @Sendable (Value) -> [String]
    ) {
        (self.key, self.text, self.allowed, self.isReloaded, self.isList) = (key, text, allowed, isReloaded, isList)
        (self.isHidden, self.defaults, self.parse, self.print) = (isHidden, defaults, parse, print)
    }

    /// A NUL is never allowed, because it ends a text in system calls.
    func value(of texts: [String], from origin: SettingOrigin) throws(ConfigurationError) -> Value {
        let wrong = texts.first { $0.utf8.contains(0) || isList && $0.isEmpty || parse([$0]) == nil }
        guard wrong == nil, let value = parse(texts) else {
            // A refused URL may have a password.
            let shown = wrong.map { isHidden($0) || $0.contains("://") && $0.contains("@") ? "(secret)" : $0 } ?? ""
            throw ConfigurationError("\(key): '\(shown)' (\(origin)) is not allowed; allowed: \(allowed)")
        }
        return value
    }
}

final class SettingsReading: Sendable {
    @TaskLocal static var current: SettingsReading?

    typealias Lookup = @Sendable (_ key: String, _ isList: Bool) throws(ConfigurationError) -> (texts: [String], origin: SettingOrigin)?

    private let lookup: Lookup?
    private let kept: [String: ListedSetting]
    private let errors = Mutex(ErrorCollector())

    init(_ lookup: Lookup? = nil, keeping kept: [ListedSetting] = []) {
        self.lookup = lookup
        self.kept = Dictionary(kept.map { ($0.key, $0) }) { $1 }
    }

    var reasons: [String] { errors.withLock { $0.reasons } }

    fileprivate func value<Value>(of row: SettingRow<Value>) -> (Value, SettingOrigin)? {
        if let kept = kept[row.key], let value = kept.content as? Value { return (value, kept.origin) }
        guard let lookup else { return nil }
        return errors.withLock { errors in
            errors.collect { () throws(ConfigurationError) -> (Value, SettingOrigin)? in
                guard let (texts, origin) = try lookup(row.key, row.isList) else { return nil }
                return (try row.value(of: texts, from: origin), origin)
            } ?? nil
        }
    }
}

protocol SettingsSection: Sendable {
    func check(_ faults: inout SettingFaults)
}

extension SettingsSection {
    func check(_ faults: inout SettingFaults) {}

    var rows: [ListedSetting] {
        Mirror(reflecting: self).children.flatMap { child -> [ListedSetting] in
            if let setting = child.value as? any AnySetting { return [setting.listed] }
            return (child.value as? any SettingsSection)?.rows ?? []
        }
    }

    var faults: [String] {
        var faults = SettingFaults()
        for child in Mirror(reflecting: self).children {
            if let section = child.value as? any SettingsSection { faults.reasons += section.faults }
        }
        check(&faults)
        return faults.reasons
    }
}

extension [ListedSetting] {
    var bySection: [ListedSetting] {
        var sections: [Substring] = []
        for setting in self where !sections.contains(setting.section) { sections.append(setting.section) }
        return sections.flatMap { section in filter { $0.section == section } }
    }
}

struct SettingFaults {
    fileprivate(set) var reasons: [String] = []

    mutating func check(_ isRight: Bool, _ reason: @autoclosure () -> String) {
        if !isRight { reasons.append(reason()) }
    }
}

private protocol AnySetting {
    var listed: ListedSetting { get }
}

extension Setting: AnySetting {
    fileprivate var listed: ListedSetting {
        let elements = row.print(wrappedValue)
        var listed = ListedSetting(key: row.key, elements: elements, origin: origin, isSecret: elements.contains(where: row.isHidden))
        (listed.text, listed.allowed, listed.defaults) = (row.text, row.allowed, row.defaults)
        (listed.isList, listed.isReloaded, listed.content) = (row.isList, row.isReloaded, wrappedValue)
        do { _ = try row.value(of: elements, from: .program) } catch { listed.fault = error }
        return listed
    }
}

package struct ListedSetting: Sendable {
    package var key: String
    package var elements: [String]
    package var origin: SettingOrigin
    package var isSecret: Bool
    package fileprivate(set) var text = ""
    package fileprivate(set) var allowed = ""
    package fileprivate(set) var defaults: [String] = []
    package fileprivate(set) var isList = false
    package fileprivate(set) var isReloaded = false
    fileprivate var content: (any Sendable)?
    fileprivate(set) var fault: ConfigurationError?

    init(key: String, elements: [String], origin: SettingOrigin, isSecret: Bool) {
        (self.key, self.elements, self.origin, self.isSecret) = (key, elements, origin, isSecret)
    }

    package var value: String { elements.joined(separator: ",") }

    /// The value, or its replacement if the value must not be shown.
    package var shown: String { isSecret && !value.isEmpty ? "(secret)" : value }

    var isDefault: Bool { elements == defaults }

    fileprivate var section: Substring { key.prefix { $0 != "." } }
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
