internal import IntertwinePrimitives

/// The fields of one item, read by name and checked; every error names its field.
///
/// Fields that nobody asks for are ignored. A field that is asked for and occurs twice is an error, whichever value was meant.
public struct ItemFields: Sendable {
    public let object: JSONObject

    public init(_ object: JSONObject) {
        self.object = object
    }

    public init(_ bytes: [UInt8]) throws(ItemError) {
        do {
            object = try JSONObject(bytes)
        } catch {
            throw ItemError(error)
        }
    }

    /// The value of a field; nil where it is missing or null.
    public func token(_ field: String) throws(ItemError) -> JSONToken? {
        var found: JSONToken?
        for member in object.members where object.matches(member.name, field) {
            guard found == nil else { throw ItemError(field: field, reason: "occurs twice") }
            found = member.value
        }
        return found?.kind == .null ? nil : found
    }

    /// A string of 1 to `limit` bytes without NUL, or nil where the field is missing or null.
    public func optionalText(_ field: String, limit: Int) throws(ItemError) -> ArraySlice<UInt8>? {
        try token(field).map { token throws(ItemError) in try text(field, token, limit: limit) }
    }

    private func text(_ field: String, _ token: JSONToken, limit: Int) throws(ItemError) -> ArraySlice<UInt8> {
        guard token.kind == .string else { throw ItemError(field: field, reason: "must be a string, is \(token.kind.rawValue)") }
        let characters = object.characters(of: token)
        guard !characters.isEmpty else { throw ItemError(field: field, reason: "is empty") }
        guard characters.count <= limit else { throw ItemError(field: field, reason: "is longer than \(limit) bytes") }
        guard !characters.contains(0) else { throw ItemError(field: field, reason: "contains a NUL character") }
        return characters
    }

    public func text(_ field: String, limit: Int) throws(ItemError) -> ArraySlice<UInt8> {
        guard let text = try optionalText(field, limit: limit) else { throw ItemError(field: field, reason: "is missing") }
        return text
    }

    /// Bytes of a text that stands for a picture.
    static let alternativeLimit = 2_000

    /// What is told of a picture to those who do not see it, or nil where the field is missing or null. It may be empty: the picture only
    /// adorns.
    func optionalAlternative(_ field: String) throws(ItemError) -> ArraySlice<UInt8>? {
        guard let token = try token(field) else { return nil }
        if token.kind == .string, token.range.isEmpty { return [] }
        return try text(field, token, limit: Self.alternativeLimit)
    }

    func alternative(_ field: String) throws(ItemError) -> String? {
        try optionalAlternative(field).map { String(decoding: $0, as: UTF8.self) }
    }

    /// An absolute http or https URL, or nil where the field is missing or null.
    public func optionalURL(_ field: String) throws(ItemError) -> ArraySlice<UInt8>? {
        guard let url = try optionalText(field, limit: ItemURL.limit) else { return nil }
        if let fault = ItemURL.error(in: url) {
            throw ItemError(field: field, reason: fault == ItemURL.secret ? fault : "\(fault): \(ItemError.quoted(url))")
        }
        return url
    }

    public func url(_ field: String) throws(ItemError) -> ArraySlice<UInt8> {
        guard let url = try optionalURL(field) else { throw ItemError(field: field, reason: "is missing") }
        return url
    }

    /// An id: a string, or a whole number, which is kept in its decimal form, so that `1`, `1.0` and `"1"` are the same.
    public func optionalIdentifier(_ field: String, limit: Int) throws(ItemError) -> ArraySlice<UInt8>? {
        guard let token = try token(field), token.kind == .number else {
            guard let text = try optionalText(field, limit: limit) else { return nil }
            return try Self.identifier(text, in: field)
        }
        let number = object.bytes[token.range]
        let digits = number.prefix { $0 != UInt8(ascii: ".") }
        let fraction = number[digits.endIndex...].dropFirst()
        guard digits.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 || $0 == UInt8(ascii: "-") }),
            fraction.allSatisfy({ $0 == UInt8(ascii: "0") })
        else {
            throw ItemError(field: field, reason: "must be a whole number or a string, is \(ItemError.quoted(number))")
        }
        guard digits.count <= limit else { throw ItemError(field: field, reason: "is longer than \(limit) bytes") }
        return digits.elementsEqual("-0".utf8) ? digits.dropFirst() : digits
    }

    /// A text that is to be an id: whoever answers requests refuses paths with control characters in them, escaped or not.
    static func identifier(_ text: ArraySlice<UInt8>, in field: String) throws(ItemError) -> ArraySlice<UInt8> {
        guard !text.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ItemError(field: field, reason: "contains a control character, which an id must not have")
        }
        // Clients and proxies resolve such segments of paths before they send them.
        guard !text.elementsEqual(".".utf8), !text.elementsEqual("..".utf8) else {
            throw ItemError(field: field, reason: "must not be '.' or '..', which no path can name")
        }
        return text
    }

    /// One of the values that a field may have.
    public func choice<Choice: RawRepresentable<String> & CaseIterable>(_ field: String, of type: Choice.Type) throws(ItemError) -> Choice {
        let token = try choiceToken(field)
        for choice in type.allCases where object.matches(token, choice.rawValue) { return choice }
        throw unknownChoice(field, token, among: type.allCases.map { $0.rawValue })
    }

    /// The same where the values are not known before the service starts.
    public func choice(_ field: String, among allowed: some Collection<String>) throws(ItemError) -> String {
        let token = try choiceToken(field)
        for choice in allowed where object.matches(token, choice) { return choice }
        throw unknownChoice(field, token, among: Array(allowed))
    }

    private func choiceToken(_ field: String) throws(ItemError) -> JSONToken {
        guard let token = try token(field) else { throw ItemError(field: field, reason: "is missing") }
        guard token.kind == .string else { throw ItemError(field: field, reason: "must be a string, is \(token.kind.rawValue)") }
        return token
    }

    private func unknownChoice(_ field: String, _ token: JSONToken, among allowed: [String]) -> ItemError {
        ItemError(
            field: field,
            reason: "must be one of \(allowed.joined(separator: ", ")), is \(ItemError.quoted(object.characters(of: token)))")
    }
}

/// Why one JSON object is no item: the field, where one is to blame, and the reason, for whoever wrote it.
public struct ItemError: Error, Sendable, Hashable, CustomStringConvertible {
    public var field: String?
    public var reason: String
    /// Where reading the bytes stopped, if they are no JSON at all.
    public var offset: Int?

    public init(field: String? = nil, reason: String, offset: Int? = nil) {
        self.field = field
        self.reason = reason
        self.offset = offset
    }

    init(_ fault: JSONError) {
        self.init(reason: fault.reason.rawValue, offset: fault.offset)
    }

    public var description: String {
        if let field { "\(field): \(reason)" } else { reason }
    }

    /// A value as a message may show it: shortened, and without anything that a terminal or a log would take for a command.
    static func quoted(_ characters: ArraySlice<UInt8>) -> String {
        "\"\(shown(characters))\""
    }

    /// The same without quotes.
    public static func shown(_ characters: some Collection<UInt8>) -> String {
        let limit = 40
        var text = ""
        for scalar in String(decoding: characters.prefix(limit), as: UTF8.self).unicodeScalars {
            let isPlain = scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value) && scalar.properties.generalCategory != .format
            text.unicodeScalars.append(isPlain ? scalar : "?")
        }
        return text + (characters.count > limit ? "…" : "")
    }

    public static func shown(_ text: some StringProtocol) -> String {
        shown(text.utf8)
    }
}

/// Writes the body of an item: a JSON object of strings, numbers and booleans, in the order in which the kind names them.
public struct ItemBody {
    private var bytes: [UInt8] = []

    public init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends a field, or nothing where it has no value.
    public mutating func append(_ field: String, _ characters: ArraySlice<UInt8>?) {
        guard let characters else { return }
        begin(field)
        bytes.append(jsonString: characters)
    }

    /// The same for a number or a boolean, which is JSON as it stands.
    mutating func append(_ field: String, literal: ArraySlice<UInt8>?) {
        guard let literal else { return }
        begin(field)
        bytes.append(contentsOf: literal)
    }

    private mutating func begin(_ field: String) {
        bytes.append(bytes.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        bytes.append(jsonString: field.utf8)
        bytes.append(UInt8(ascii: ":"))
    }

    public consuming func finish() -> [UInt8] {
        if bytes.isEmpty { bytes.append(UInt8(ascii: "{")) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
