public import Foundation

/// A JSON value. It keeps members that later servers add, so that an app can use them before this package supports them.
///
/// ```swift
/// let input: JSONValue = .object(["stars": .number(5), "text": .text("Good")])
/// input["stars"]?.number  // 5
/// ```
public enum JSONValue: Hashable, Sendable {
    /// The value `null`.
    case null
    /// The value `true` or `false`.
    case boolean(Bool)
    /// A number. An integer is exact up to 2^53.
    case number(Double)
    /// A string.
    case text(String)
    /// An array with its elements in order.
    case array([JSONValue])
    /// An object with its members by name.
    case object([String: JSONValue])

    /// The text; nil for any other type.
    public var text: String? { if case .text(let text) = self { text } else { nil } }
    /// The number; nil for any other type.
    public var number: Double? { if case .number(let number) = self { number } else { nil } }
    /// The Boolean value; nil for any other type.
    public var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }
    /// The elements of an array; nil for any other type.
    public var array: [JSONValue]? { if case .array(let array) = self { array } else { nil } }
    /// The members of an object; nil for any other type.
    public var object: [String: JSONValue]? { if case .object(let object) = self { object } else { nil } }

    /// Returns the member of an object; nil if it does not exist or if this value is not an object.
    ///
    /// ```swift
    /// cell.members["state"]?["saved"]?.boolean  // true
    /// ```
    public subscript(_ name: String) -> JSONValue? { object?[name] }

    /// The number as an index; nil if it is negative, fractional or too large.
    var index: Int? { number.flatMap { Int(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil } }

    /// Parses a document. Throws if it is not JSON.
    ///
    /// ```swift
    /// let value = try JSONValue(parsing: Data(#"{"stars": 5}"#.utf8))
    /// value["stars"]?.number  // 5
    /// ```
    public init(parsing data: Data) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: data)
    }

    /// Returns the document with sorted members.
    ///
    /// ```swift
    /// let json = try JSONValue.object(["b": .null, "a": .number(1)]).encoded()
    /// String(decoding: json, as: UTF8.self)  // {"a":1,"b":null}
    /// ```
    public func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension JSONValue: Codable {
    /// Decodes any JSON value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let boolean = try? container.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let array = try? container.decode([JSONValue].self) {
            self = .array(array)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Encodes the value. A number without a fraction is encoded as an integer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let boolean): try container.encode(boolean)
        case .number(let number):
            if let whole = Int64(exactly: number) { try container.encode(whole) } else { try container.encode(number) }
        case .text(let text): try container.encode(text)
        case .array(let array): try container.encode(array)
        case .object(let object): try container.encode(object)
        }
    }
}
