internal import IntertwinePrimitives

/// A field of a declared kind, or a value that a command takes: its name, what it holds, and the limits that each of its values keeps.
public struct FieldDeclaration: Sendable, Hashable {
    /// Characters (Unicode scalars) that a text may have where nothing else is said.
    public static let usualTextLimit = 2_000.0
    /// Characters that no declaration can go beyond.
    public static let textLimit = 65_536.0

    public var name: String
    public var type: FieldType
    public var isRequired: Bool
    /// Of a text, the number of its characters; of a number, the number itself. Other types have no bounds of their own.
    public var minimum: Double?
    public var maximum: Double?
    /// The texts that it can be; any where there are none.
    public var choices: [String]

    public init(
        _ name: String, _ type: FieldType, isRequired: Bool = false, minimum: Double? = nil, maximum: Double? = nil, choices: [String] = []
    ) {
        self.name = name
        self.type = type
        self.isRequired = isRequired
        self.minimum = minimum
        self.maximum = maximum
        self.choices = choices
    }

    /// Why its limits make no sense; nil where they do.
    var boundsFault: String? {
        switch type {
        case .text:
            let isWhole = [minimum, maximum].compactMap { $0 }.allSatisfy { $0 >= 0 && $0 == $0.rounded() }
            guard isWhole, maximum ?? 1 >= 1, maximum ?? 1 <= Self.textLimit else {
                return "min and max of a text are whole numbers of characters, max 1 to \(Int(Self.textLimit))"
            }
        case .number: break
        case .date, .url, .image, .boolean:
            guard minimum == nil, maximum == nil else {
                return "min and max are for text and number; the field is of the type \(type.rawValue)"
            }
        }
        guard minimum ?? -.infinity <= maximum ?? (type == .text ? Self.usualTextLimit : .infinity) else {
            return "min is greater than max"
        }
        guard choices.isEmpty || type == .text else { return "a \(type.rawValue) has no choices" }
        guard choices.allSatisfy({ !$0.isEmpty }), Set(choices.map { ExactText($0) }).count == choices.count else {
            return "a choice is empty, or stands there twice"
        }
        return nil
    }
}

/// What a field of a declared kind holds.
public enum FieldType: String, Sendable, Hashable, CaseIterable {
    case text, number
    /// A date, or a date with its time and offset (RFC 3339), as text.
    case date
    /// An absolute http or https URL that people are led to.
    case url
    /// The same of a picture, which clients get through the image proxy.
    case image
    case boolean
}

extension FieldDeclaration {
    /// The field's value in one item: the characters of a text, or the literal of a number or boolean. Nil where it is missing.
    ///
    /// - Throws: ``ItemFault`` where it is missing and required, of another type, or beyond its limits.
    func value(in fields: ItemFields) throws(ItemFault) -> ArraySlice<UInt8>? {
        let value = try optionalValue(in: fields)
        guard value != nil || !isRequired else { throw ItemFault(field: name, reason: "is missing") }
        return value
    }

    private func optionalValue(in fields: ItemFields) throws(ItemFault) -> ArraySlice<UInt8>? {
        switch type {
        case .text:
            guard let text = try text(in: fields) else { return nil }
            guard choices.isEmpty || choices.contains(where: { text.elementsEqual($0.utf8) }) else {
                throw ItemFault(field: name, reason: "must be one of \(choices.joined(separator: ", ")), is \(ItemFault.quoted(text))")
            }
            return text
        case .url, .image: return try fields.optionalURL(name)
        case .date:
            guard let text = try fields.optionalText(name, limit: 64) else { return nil }
            guard Timestamp.isDateOrMoment(text) else {
                throw ItemFault(
                    field: name, reason: "must be a date such as 2026-05-01 or 2026-05-01T19:00:00Z, is \(ItemFault.quoted(text))")
            }
            return text
        case .number: return try number(in: fields)
        case .boolean:
            guard let token = try fields.token(name) else { return nil }
            guard token.kind == .boolean else { throw ItemFault(field: name, reason: "must be true or false, is \(token.kind.rawValue)") }
            return fields.object.bytes[token.range]
        }
    }

    private func text(in fields: ItemFields) throws(ItemFault) -> ArraySlice<UInt8>? {
        let limit = maximum ?? Self.usualTextLimit
        // A character takes up to four bytes; those are counted first, and what may still be too long after.
        guard let text = try fields.optionalText(name, limit: Int(min(limit, Self.textLimit)) * 4) else { return nil }
        guard Double(text.count) > limit || minimum != nil else { return text }
        let characters = Double(text.count { $0 & 0xC0 != 0x80 })
        guard characters <= limit else { throw ItemFault(field: name, reason: "is longer than \(Self.plain(limit)) characters") }
        if let minimum, characters < minimum {
            throw ItemFault(field: name, reason: "is shorter than \(Self.plain(minimum)) characters")
        }
        return text
    }

    private func number(in fields: ItemFields) throws(ItemFault) -> ArraySlice<UInt8>? {
        guard let token = try fields.token(name) else { return nil }
        guard token.kind == .number else { throw ItemFault(field: name, reason: "must be a number, is \(token.kind.rawValue)") }
        guard let (text, value) = NumberText.canonical(fields.object.bytes[token.range]) else {
            throw ItemFault(field: name, reason: "is too large a number")
        }
        if let minimum, value < minimum { throw ItemFault(field: name, reason: "must be at least \(Self.plain(minimum)), is \(text)") }
        if let maximum, value > maximum { throw ItemFault(field: name, reason: "must be at most \(Self.plain(maximum)), is \(text)") }
        return Array(text.utf8)[...]
    }

    private static func plain(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? number.description
    }
}

/// Numbers as items have them: any JSON number that a client can take, in one spelling for equal ones.
private enum NumberText {
    /// The spelling that is stored; nil where the number is too large for a double.
    ///
    /// - Parameter text: a JSON number (RFC 8259 §6).
    static func canonical(_ text: ArraySlice<UInt8>) -> (text: String, value: Double)? {
        let text = String(decoding: text, as: UTF8.self)
        if let whole = Int64(text) { return (String(whole), Double(whole)) }
        guard let value = Double(text), value.isFinite else { return nil }
        // As JavaScript spells them, and as a whole number that is written without an exponent is kept.
        if value.magnitude < 1e21, let whole = Int128(exactly: value) { return (String(whole), value) }
        return (value.description, value)
    }
}
