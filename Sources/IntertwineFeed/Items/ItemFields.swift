package import IntertwinePrimitives

/// The fields of one item, read by name and validated. Every error contains the name of its field.
///
/// Fields that are not read are ignored. A field that is read and occurs twice is an error, because the intended value is unknown.
public struct ItemFields: Sendable {
    package let object: JSONObject
    /// The URL of the page, for an item of a remote source.
    package var base: String?
    /// The errors of the values of a source that have another form than their mapping declares.
    var unconverted: [String: ItemError] = [:]

    package init(_ object: JSONObject) {
        self.object = object
    }

    /// Parses the fields of one JSON object.
    ///
    /// ```swift
    /// let fields = try ItemFields(Array(#"{"id":7,"title":"Swing"}"#.utf8))
    /// let title = String(decoding: try fields.text("title", limit: 200), as: UTF8.self)  // "Swing"
    /// ```
    ///
    /// - Throws: ``ItemError`` with ``ItemError/offset`` if the bytes are not exactly one JSON object.
    public init(_ bytes: [UInt8]) throws(ItemError) { try self.init(bytes, isLenient: false) }

    package init(_ bytes: [UInt8], isLenient: Bool) throws(ItemError) {
        do {
            object = try JSONObject(bytes, isLenient: isLenient)
        } catch {
            throw ItemError(error)
        }
    }

    func removing(_ field: String) -> ItemFields {
        var fields = ItemFields(object.removing(field))
        (fields.base, fields.unconverted) = (base, unconverted)
        return fields
    }

    func replacing(_ field: String, withList elements: [ArraySlice<UInt8>]) throws(JSONError) -> ItemFields {
        let list = [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        var fields = ItemFields(try object.replacing(field, with: list))
        (fields.base, fields.unconverted) = (base, unconverted)
        return fields
    }

    /// The elements of a list. In an item of a source, a text is a list of one element, as Elasticsearch and converters of XML write it.
    func elements(of token: JSONToken) -> [ArraySlice<UInt8>]? {
        switch token.kind {
        case .array:
            let list = try? JSONArray(Array(object.bytes[token.range]), isLenient: true)
            return list.map { list in list.elements.map { $0.kind == .invalid ? [] : list.raw($0) } }
        case .string where base != nil: return [object.raw(token)]
        case .object where base != nil:
            let list = try? JSONObject(object.bytes, at: token.range.lowerBound, isLenient: true)
            return list?.listElements?.map { object.raw($0) }
        default: return nil
        }
    }

    package func token(_ field: String) throws(ItemError) -> JSONToken? {
        guard let token = try value(field) else { return nil }
        guard token.kind == .string else { return token }
        // In a source, white space is no text, as in a text from HTML.
        let isBlank = base != nil && String(decoding: object.characters(of: token), as: UTF8.self).allSatisfy(\.isWhitespace)
        return token.range.isEmpty || isBlank ? nil : token
    }

    /// It accepts texts too: a constant of a source and a column of a table are texts. Programs behind a source write 0, 1 and words.
    package func flag(_ field: String) throws(ItemError) -> Bool? {
        guard let token = try token(field) else { return nil }
        let text = String(decoding: object.bytes[token.range], as: UTF8.self)
        switch (text, base == nil ? nil : Double(text)) {
        case ("true", _), (_, 1): return true
        case ("false", _), (_, 0): return false
        default:
            if base != nil, let flag = Bool(word: text) { return flag }
            throw ItemError(field: field, reason: "must be true or false, is \(token.kind.rawValue)")
        }
    }

    private func value(_ field: String) throws(ItemError) -> JSONToken? {
        var found: JSONToken?
        for member in object.members where object.matches(member.name, field) {
            guard found == nil else { throw ItemError(field: field, reason: "occurs twice", code: .duplicate) }
            found = member.value
        }
        if found != nil, let error = unconverted[field] { throw error }
        return found?.kind == .null ? nil : found
    }

    /// Returns a string of at most `limit` characters (Unicode scalars), or nil if the field is missing, null or empty. NUL becomes U+FFFD.
    ///
    /// ```swift
    /// let fields = try ItemFields(Array(#"{"title":null}"#.utf8))
    /// let title = try fields.optionalText("title", limit: 200)  // nil
    /// ```
    ///
    /// - Throws: ``ItemError`` if the value is not a string or exceeds the limit, or if the field occurs twice.
    public func optionalText(_ field: String, limit: Int) throws(ItemError) -> ArraySlice<UInt8>? {
        try token(field).map { token throws(ItemError) in try text(field, token, limit: limit) }
    }

    private func text(_ field: String, _ token: JSONToken, limit: Int, keepsNUL: Bool = false) throws(ItemError) -> ArraySlice<UInt8> {
        guard token.kind == .string else { throw ItemError(field: field, reason: "must be a string, is \(token.kind.rawValue)") }
        let characters = object.characters(of: token)
        guard characters.count <= limit || characters.count(where: { $0 & 0xC0 != 0x80 }) <= limit else {
            throw ItemError(field: field, reason: "is longer than \(limit) characters", code: .tooLong)
        }
        guard !keepsNUL, characters.contains(0) else { return characters }
        return characters.flatMap { $0 == 0 ? Array("\u{FFFD}".utf8) : [$0] }[...]
    }

    /// Returns a string of 1 to `limit` characters (Unicode scalars). NUL becomes U+FFFD.
    ///
    /// ```swift
    /// let fields = try ItemFields(Array(#"{"title":"Swing"}"#.utf8))
    /// let title = try fields.text("title", limit: 200)
    /// let text = String(decoding: title, as: UTF8.self)  // "Swing"
    /// ```
    ///
    /// - Throws: ``ItemError`` with ``ItemError/Code/required`` if the field is missing, null or empty. Other errors are those of
    ///   ``optionalText(_:limit:)``.
    public func text(_ field: String, limit: Int) throws(ItemError) -> ArraySlice<UInt8> {
        guard let text = try optionalText(field, limit: limit) else { throw ItemError(field: field, reason: "is missing", code: .required) }
        return text
    }

    /// The maximum length of the alternative text of an image, in bytes.
    static let alternativeLimit = 2_000

    func optionalAlternative(_ field: String) throws(ItemError) -> ArraySlice<UInt8>? {
        guard let token = try value(field) else { return nil }
        if token.kind == .string, token.range.isEmpty { return [] }
        return try text(field, token, limit: Self.alternativeLimit)
    }

    func alternative(_ field: String) throws(ItemError) -> String? {
        try optionalAlternative(field).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the absolute http or https URL that a browser reads in a field, in at most 8,000 bytes of ASCII. Nil if the field is missing, null or
    /// empty.
    ///
    /// ```swift
    /// let fields = try ItemFields(Array(#"{"coverUrl":"//example.com/swing 1.png"}"#.utf8))
    /// let cover = try fields.optionalURL("coverUrl")  // https://example.com/swing%201.png
    /// ```
    ///
    /// - Throws: ``ItemError`` if the value is not such a URL, or if it contains a user name or a password. A relative URL needs a document to which
    ///   it is relative, as the items of remote sources have.
    public func optionalURL(_ field: String) throws(ItemError) -> ArraySlice<UInt8>? {
        let value = try token(field).map { token throws(ItemError) in try text(field, token, limit: ItemURL.limit, keepsNUL: true) }
        guard let url = value, url.contains(where: { $0 > 0x20 }) else { return nil }
        do throws(ItemError) { return try ItemURL.absolute(url, relativeTo: base) } catch {
            throw ItemError(field: field, reason: error.reason)
        }
    }

    /// Returns the absolute http or https URL that a browser reads in a field, in at most 8,000 bytes of ASCII.
    ///
    /// ```swift
    /// let fields = try ItemFields(Array(#"{"coverUrl":"https://example.com/swing.png"}"#.utf8))
    /// let cover = try fields.url("coverUrl")
    /// let text = String(decoding: cover, as: UTF8.self)  // "https://example.com/swing.png"
    /// ```
    ///
    /// - Throws: ``ItemError`` with ``ItemError/Code/required`` if the field is missing or null. Other errors are those of
    ///   ``optionalURL(_:)``.
    public func url(_ field: String) throws(ItemError) -> ArraySlice<UInt8> {
        guard let url = try optionalURL(field) else { throw ItemError(field: field, reason: "is missing", code: .required) }
        return url
    }

    /// Returns an id, or nil if the field is missing or null.
    ///
    /// An id is a string or a whole number. A number is stored in decimal form, so `1`, `1.0`, `1e0` and `"1"` are equal.
    ///
    /// ```swift
    /// let fields = try ItemFields(Array(#"{"id":1.0}"#.utf8))
    /// let id = try fields.optionalIdentifier("id", limit: 64)
    /// let text = id.map { String(decoding: $0, as: UTF8.self) }  // "1"
    /// ```
    ///
    /// - Throws: ``ItemError`` if the value is another number or type, contains a control character, or is `.` or `..`. The
    ///   limit is a number of characters.
    public func optionalIdentifier(_ field: String, limit: Int) throws(ItemError) -> ArraySlice<UInt8>? {
        guard let token = try token(field), token.kind == .number else {
            guard let text = try optionalText(field, limit: limit) else { return nil }
            return try Self.identifier(text, in: field)
        }
        var number = object.bytes[token.range]
        if number.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }), let whole = NumberText.exactWhole(number) {
            number = Array(String(whole).utf8)[...]
        }
        let digits = number.prefix { $0 != UInt8(ascii: ".") }
        let fraction = number[digits.endIndex...].dropFirst()
        guard digits.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 || $0 == UInt8(ascii: "-") }),
            fraction.allSatisfy({ $0 == UInt8(ascii: "0") })
        else {
            throw ItemError(field: field, reason: "must be a whole number or a string, is \(ItemError.quoted(number))")
        }
        guard digits.count <= limit else { throw ItemError(field: field, reason: "is longer than \(limit) characters", code: .tooLong) }
        return digits.elementsEqual("-0".utf8) ? digits.dropFirst() : digits
    }

    /// Validates a text as an id. Why: servers reject paths that contain control characters, escaped or not.
    package static func identifier(_ text: ArraySlice<UInt8>, in field: String) throws(ItemError) -> ArraySlice<UInt8> {
        guard !text.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ItemError(field: field, reason: "contains a control character, which an id must not have")
        }
        // Clients and proxies resolve these path segments before they send a request.
        guard !text.elementsEqual(".".utf8), !text.elementsEqual("..".utf8) else {
            throw ItemError(field: field, reason: "must not be '.' or '..', which cannot be path segments")
        }
        return text
    }

    /// Returns a value of an enumeration.
    ///
    /// ```swift
    /// enum Size: String, CaseIterable { case small, large }
    /// let fields = try ItemFields(Array(#"{"size":"large"}"#.utf8))
    /// let size = try fields.choice("size", of: Size.self)  // .large
    /// ```
    ///
    /// - Throws: ``ItemError`` with ``ItemError/Code/required`` if the field is missing, or ``ItemError/Code/unknown`` for another text.
    public func choice<Choice: RawRepresentable<String> & CaseIterable>(_ field: String, of type: Choice.Type) throws(ItemError) -> Choice {
        let token = try choiceToken(field)
        for choice in type.allCases where object.matches(token, choice.rawValue) { return choice }
        throw unknownChoice(field, token, among: type.allCases.map { $0.rawValue })
    }

    /// Returns one of the allowed values, which are known only at run time.
    ///
    /// ```swift
    /// let sizes = ["small", "large"]
    /// let fields = try ItemFields(Array(#"{"size":"large"}"#.utf8))
    /// let size = try fields.choice("size", among: sizes)  // "large"
    /// ```
    ///
    /// - Throws: ``ItemError`` with ``ItemError/Code/required`` if the field is missing, or ``ItemError/Code/unknown`` for another text.
    public func choice(_ field: String, among allowed: some Collection<String>) throws(ItemError) -> String {
        let token = try choiceToken(field)
        for choice in allowed where object.matches(token, choice) { return choice }
        throw unknownChoice(field, token, among: Array(allowed))
    }

    private func choiceToken(_ field: String) throws(ItemError) -> JSONToken {
        guard let token = try token(field) else { throw ItemError(field: field, reason: "is missing", code: .required) }
        guard token.kind == .string else { throw ItemError(field: field, reason: "must be a string, is \(token.kind.rawValue)") }
        return token
    }

    private func unknownChoice(_ field: String, _ token: JSONToken, among allowed: [String]) -> ItemError {
        ItemError(
            field: field,
            reason: "must be one of \(allowed.joined(separator: ", ")), is \(ItemError.quoted(object.characters(of: token)))",
            code: .unknown)
    }
}

/// The reason why a JSON object is not a valid item, and the field that causes it, if any. The message is for the author of the item.
public struct ItemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for programs.
    public enum Code: String, Sendable {
        /// A required field is missing.
        case required
        /// The value has another type or violates the syntax.
        case invalid
        /// A number or a length is outside its limits.
        case outOfRange = "out-of-range"
        /// A text exceeds its maximum length.
        case tooLong = "too-long"
        /// A list exceeds its maximum number of elements.
        case tooMany = "too-many"
        /// The value is not one of the known ones.
        case unknown
        /// A field occurs twice.
        case duplicate
        /// The value contradicts another value.
        case conflict
    }

    /// The name of the field for people. Names of nested members follow after a full stop.
    public var field: String?
    /// The reason as the end of a sentence about the field, such as `is missing`.
    public var reason: String
    /// The offset at which parsing stopped if the bytes are not valid JSON.
    public var offset: Int?
    /// The kind of the error, for programs.
    public var code: Code
    /// The names and indices that lead to the value in the JSON of the item; empty for the whole item.
    public var path: [String]

    /// Creates an error, by default of the whole item.
    ///
    /// ```swift
    /// let error = ItemError(field: "author.name", reason: "is missing", code: .required)
    /// let path = error.path  // ["author", "name"]
    /// ```
    ///
    /// - Parameters:
    ///   - field: The name of the field for people; nil for the whole item.
    ///   - reason: The reason as the end of a sentence about the field.
    ///   - offset: The offset at which parsing stopped; nil if the bytes are valid JSON.
    ///   - code: The kind of the error.
    ///   - path: The names and indices that lead to the value; nil for the parts of `field`.
    public init(field: String? = nil, reason: String, offset: Int? = nil, code: Code = .invalid, path: [String]? = nil) {
        self.field = field
        self.reason = reason
        self.offset = offset
        self.code = code
        self.path = path ?? field.map { $0.split(separator: ".").map(String.init) } ?? []
    }

    package init(_ fault: JSONError) {
        self.init(reason: fault.reason.rawValue, offset: fault.offset)
    }

    /// The field and the reason, such as `title: is missing`.
    public var description: String {
        if let field { "\(field): \(reason)" } else { reason }
    }

    static func quoted(_ characters: ArraySlice<UInt8>) -> String {
        "\"\(shown(characters))\""
    }

    /// Returns a value for a message without quotes, shortened and without characters that a terminal or a log could interpret.
    ///
    /// The result has at most 40 bytes of the value. Control and format characters are replaced by question marks.
    public static func shown(_ characters: some Collection<UInt8>) -> String {
        let limit = 40
        var text = ""
        for scalar in String(decoding: characters.prefix(limit), as: UTF8.self).unicodeScalars {
            let isPlain = scalar.value >= 0x20 && !(0x7F..<0xA0).contains(scalar.value) && scalar.properties.generalCategory != .format
            text.unicodeScalars.append(isPlain ? scalar : "?")
        }
        return text + (characters.count > limit ? "…" : "")
    }

    /// Returns a text for a message, shortened to 40 bytes. Control and format characters are replaced by question marks.
    ///
    /// ```swift
    /// let name = "first\nsecond"
    /// let shown = ItemError.shown(name)  // "first?second"
    /// ```
    public static func shown(_ text: some StringProtocol) -> String {
        shown(text.utf8)
    }
}

/// A writer for the body of an item: a JSON object of strings, numbers and booleans in the order of the kind's declaration.
///
/// ```swift
/// let title = try fields.text("title", limit: 200)
/// var body = ItemBody()
/// body.append("title", title)
/// let bytes = body.finish()  // {"title":"Swing"}
/// ```
public struct ItemBody {
    private var bytes: [UInt8] = []

    /// Creates an empty body with space for a number of bytes.
    public init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends a string field, or nothing if it has no value.
    public mutating func append(_ field: String, _ characters: ArraySlice<UInt8>?) {
        guard let characters else { return }
        begin(field)
        bytes.append(jsonString: characters)
    }

    package mutating func append(_ field: String, literal: ArraySlice<UInt8>?) {
        guard let literal else { return }
        begin(field)
        bytes.append(contentsOf: literal)
    }

    private mutating func begin(_ field: String) {
        bytes.append(bytes.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        bytes.append(jsonString: field.utf8)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Returns the complete JSON object as UTF-8. Without fields, it is `{}`.
    public consuming func finish() -> [UInt8] {
        if bytes.isEmpty { bytes.append(UInt8(ascii: "{")) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
