internal import IntertwinePrimitives

/// The declaration of a field of a kind or of an input value of a command: its name, its type and its limits.
///
/// ```swift
/// let title = FieldDeclaration("title", .text, isRequired: true, maximum: 200)
/// let size = FieldDeclaration("size", .text, choices: ["small", "large"], label: ["en": "Size", "de": "Größe"])
/// ```
public struct FieldDeclaration: Sendable, Hashable {
    /// The default maximum length of a text, in characters (Unicode scalars).
    public static let usualTextLimit = 2_000.0
    /// The highest maximum length that a declaration can set, in characters (Unicode scalars).
    public static let textLimit = 65_536.0

    /// The name: a letter followed by letters, digits, underscores or hyphens, at most 64 bytes.
    public var name: String
    /// The type of the values.
    public var type: FieldType
    /// True if the value must be present.
    public var isRequired: Bool
    /// The minimum: for a text its number of characters, for a number its value. Other types have no bounds.
    public var minimum: Double?
    /// The maximum: for a text its number of characters, for a number its value.
    ///
    /// If it is nil, a text has at most ``usualTextLimit`` characters, and a number has no maximum.
    public var maximum: Double?
    /// True if a number must have no fractional part.
    public var isWhole: Bool
    /// The allowed texts. An empty array allows any text.
    public var choices: [String]
    /// The language tags of a text field that may have one text per language; the first is the default. It is empty for all other fields.
    public var languages: [String]
    /// The title of an input value in forms, and of the filter of a field, or nil if clients derive it from the name.
    public var label: LocalizedText?
    package var format: NumberFormat?
    package var choiceLabels: [String: LocalizedText] = [:]

    /// Creates a declaration, by default of an optional field without choices and languages. The limits are not validated.
    ///
    /// ```swift
    /// let rating = FieldDeclaration("rating", .number, isRequired: true, minimum: 1, maximum: 5, label: "Rating")
    /// let type = rating.type.rawValue  // "number"
    /// ```
    public init(
        _ name: String, _ type: FieldType, isRequired: Bool = false, minimum: Double? = nil, maximum: Double? = nil, isWhole: Bool = false,
        choices: [String] = [], languages: [String] = [], label: LocalizedText? = nil
    ) {
        self.name = name
        self.type = type
        self.isRequired = isRequired
        self.minimum = minimum
        self.maximum = maximum
        self.isWhole = isWhole
        self.choices = choices
        self.languages = languages
        self.label = label
    }

    var boundsError: String? {
        switch type {
        case .text:
            let isWhole = [minimum, maximum].compactMap { $0 }.allSatisfy { $0 >= 0 && $0 == $0.rounded() }
            guard isWhole, maximum ?? 1 >= 1, maximum ?? 1 <= Self.textLimit else {
                return "min and max of a text are whole numbers of characters, max 1 to \(Int(Self.textLimit))"
            }
        case .number: break
        case .date, .url, .image, .boolean, .tags:
            guard minimum == nil, maximum == nil else {
                return "min and max are for text and number; the field is of the type \(type.rawValue)"
            }
        }
        guard minimum ?? -.infinity <= maximum ?? (type == .text ? Self.usualTextLimit : .infinity) else {
            return "min is greater than max"
        }
        guard !isWhole || type == .number else { return "only a number is whole; the field is of the type \(type.rawValue)" }
        guard format == nil || type == .number else {
            return "decimals, factor and unit are for number; the field is of the type \(type.rawValue)"
        }
        guard choices.isEmpty || type == .text else { return "a \(type.rawValue) has no choices" }
        guard languages.isEmpty || type == .text && choices.isEmpty else { return "only a text without choices has languages" }
        guard choices.allSatisfy({ !$0.isEmpty }), Set(choices.map { ByteString($0) }).count == choices.count else {
            return "a choice is empty or occurs twice"
        }
        return nil
    }
}

/// The type of a field of a declared kind.
public enum FieldType: String, Sendable, Hashable, CaseIterable {
    /// A text of Unicode scalars, or a number that a double can represent.
    case text, number
    /// A date, or a date with time and offset (RFC 3339), as text.
    case date
    /// An absolute http or https URL that people can open.
    case url
    /// An absolute http or https URL of an image, which clients load through the image proxy.
    case image
    /// One of the JSON literals `true` and `false`.
    case boolean
    /// A list of up to 32 texts of 1 to 64 characters, by which a feed can be filtered.
    case tags
}

extension FieldDeclaration {
    package func value(in fields: ItemFields, for language: FeedLanguage? = nil) throws(ItemError) -> ArraySlice<UInt8>? {
        let texts = languages.isEmpty ? nil : try self.texts(in: fields, languages: language.map { $0.order + languages } ?? languages)
        let value = if let texts { texts.first?.text } else { try optionalValue(in: fields) }
        guard value != nil || !isRequired else { throw ItemError(field: name, reason: "is missing", code: .required) }
        return value
    }

    private func optionalValue(in fields: ItemFields) throws(ItemError) -> ArraySlice<UInt8>? {
        switch type {
        case .text:
            guard let text = try text(in: fields) else { return nil }
            guard choices.isEmpty || choices.contains(where: { text.elementsEqual($0.utf8) }) else {
                throw ItemError(
                    field: name, reason: "must be one of \(choices.joined(separator: ", ")), is \(ItemError.quoted(text))", code: .unknown)
            }
            return text
        case .url, .image: return try fields.optionalURL(name)
        case .date:
            guard let text = try fields.optionalText(name, limit: 64) else { return nil }
            guard Timestamp.isDateOrMoment(text) else {
                throw ItemError(
                    field: name, reason: "must be a date such as 2026-05-01 or 2026-05-01T19:00:00Z, is \(ItemError.quoted(text))")
            }
            return text
        case .number: return try number(in: fields)
        case .boolean:
            guard let token = try fields.token(name) else { return nil }
            if fields.base != nil { return try fields.flag(name).map { Array("\($0)".utf8)[...] } }
            guard token.kind == .boolean else { throw ItemError(field: name, reason: "must be true or false, is \(token.kind.rawValue)") }
            return fields.object.bytes[token.range]
        case .tags:
            let tags = try tags(in: fields)
            return tags.isEmpty ? nil : Array(tags.joined(separator: ", ").utf8)[...]
        }
    }

    static let tagLimit = 32

    /// The different tags, in the item's order.
    func tags(in fields: ItemFields) throws(ItemError) -> [String] {
        guard let token = try fields.token(name) else { return [] }
        guard let elements = fields.elements(of: token) else {
            throw ItemError(field: name, reason: "must be a list of texts, is \(token.kind.rawValue)")
        }
        var (known, tags) = (Set<ByteString>(), [String]())
        for element in elements {
            let value = try? JSONValue(json: Array(element))
            let isBlank = if case .text(let text)? = value { text.allSatisfy(\.isWhitespace) } else { value == .null }
            if fields.base != nil, isBlank { continue }
            guard case .text(var tag)? = value, 1...ItemFilter.textLimit ~= tag.unicodeScalars.count else {
                throw ItemError(field: name, reason: "must have texts of 1 to \(ItemFilter.textLimit) characters")
            }
            tag = tag.replacing("\0", with: "\u{FFFD}")
            if known.insert(ByteString(tag)).inserted { tags.append(tag) }
        }
        guard tags.count <= Self.tagLimit else {
            throw ItemError(field: name, reason: "has more than \(Self.tagLimit) texts", code: .tooMany)
        }
        return tags
    }

    private func text(in fields: ItemFields) throws(ItemError) -> ArraySlice<UInt8>? {
        let limit = min(maximum ?? Self.usualTextLimit, Self.textLimit)
        guard let text = try fields.optionalText(name, limit: Int(limit)) else { return nil }
        if let minimum, Double(text.count { $0 & 0xC0 != 0x80 }) < minimum {
            throw ItemError(field: name, reason: "is shorter than \(Self.printed(minimum)) characters", code: .outOfRange)
        }
        return text
    }

    /// Stored items may have such texts, because the language was declared when they were stored.
    private func texts(
        in fields: ItemFields, languages wanted: [String], isStrict: Bool = false
    ) throws(ItemError) -> [(tag: String, text: ArraySlice<UInt8>)]? {
        guard let token = try fields.token(name), token.kind == .object else { return nil }
        var texts = try ItemFields(Array(fields.object.bytes[token.range]), isLenient: true)
        texts.base = fields.base
        var found: [String: ArraySlice<UInt8>] = [:]
        for member in texts.object.members {
            var one = self
            one.name = String(decoding: texts.object.characters(of: member.name), as: UTF8.self)
            guard languages.contains(one.name) else {
                guard isStrict else { continue }
                throw ItemError(
                    field: name,
                    reason:
                        "'\(ItemError.shown(one.name))' is not a declared language; declared: \(languages.joined(separator: ", "))",
                    code: .unknown, path: [name, one.name])
            }
            do throws(ItemError) {
                guard found[one.name] == nil else { throw ItemError(reason: "occurs twice", code: .duplicate) }
                found[one.name] = try one.text(in: texts)
            } catch {
                throw ItemError(field: "\(name).\(one.name)", reason: error.reason, code: error.code, path: [name, one.name])
            }
        }
        return wanted.compactMap { tag in found[tag].map { (tag, $0) } }
    }

    package func stored(in fields: ItemFields) throws(ItemError) -> [UInt8]? {
        var json: [UInt8] = []
        if !languages.isEmpty, let texts = try texts(in: fields, languages: languages, isStrict: true) {
            guard !texts.isEmpty else {
                if isRequired { throw ItemError(field: name, reason: "has no text in any language") }
                return nil
            }
            for (tag, text) in texts {
                json.append(json.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
                json.append(jsonString: tag.utf8)
                json.append(UInt8(ascii: ":"))
                json.append(jsonString: text)
            }
            return json + [UInt8(ascii: "}")]
        }
        guard let value = try value(in: fields) else { return nil }
        switch type {
        case .tags:
            for tag in try tags(in: fields) {
                json.append(json.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
                json.append(jsonString: tag.utf8)
            }
            return json + [UInt8(ascii: "]")]
        case .number, .boolean: return Array(value)
        case .text, .date, .url, .image:
            json.append(jsonString: value)
            return json
        }
    }

    private func number(in fields: ItemFields) throws(ItemError) -> ArraySlice<UInt8>? {
        guard let token = try fields.token(name) else { return nil }
        guard token.kind == .number else { throw ItemError(field: name, reason: "must be a number, is \(token.kind.rawValue)") }
        guard let (text, value) = NumberText.canonical(fields.object.bytes[token.range]) else {
            throw ItemError(field: name, reason: "is too large", code: .outOfRange)
        }
        guard !isWhole || value == value.rounded() else { throw ItemError(field: name, reason: "must be a whole number, is \(text)") }
        if let minimum, value < minimum {
            throw ItemError(field: name, reason: "must be at least \(Self.printed(minimum)), is \(text)", code: .outOfRange)
        }
        if let maximum, value > maximum {
            throw ItemError(field: name, reason: "must be at most \(Self.printed(maximum)), is \(text)", code: .outOfRange)
        }
        return Array(text.utf8)[...]
    }

    private static func printed(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? number.description
    }
}

/// The canonical text of the numbers of items: one spelling for equal numbers, for any JSON number that a client can represent.
enum NumberText {
    /// Returns a whole number that a double represents without loss (ECMA-262, `Number.isSafeInteger`).
    static func exactWhole(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let value = Double(String(decoding: text, as: UTF8.self)), value.magnitude <= 9_007_199_254_740_991 else { return nil }
        return Int64(exactly: value)
    }

    static func canonical(_ text: ArraySlice<UInt8>) -> (text: String, value: Double)? {
        let text = String(decoding: text, as: UTF8.self)
        if let whole = Int64(text) { return (String(whole), Double(whole)) }
        guard let value = Double(text), value.isFinite else { return nil }
        // The spelling of JavaScript. Whole numbers below this limit are stored without an exponent.
        if value.magnitude < 1e21, let whole = Int128(exactly: value) { return (String(whole), value) }
        return (value.description, value)
    }
}

extension FieldDeclaration {
    /// The maximum length of a name, in bytes.
    package static let nameLimit = 64

    package static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        let isPlain = bytes.allSatisfy { byte in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") <= 9 || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-")
        }
        guard let first = bytes.first else { return false }
        return (first | 0x20) &- UInt8(ascii: "a") < 26 && isPlain && bytes.count <= nameLimit
    }
}
