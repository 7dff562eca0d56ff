internal import Foundation
internal import IntertwineFeed
internal import IntertwinePrimitives

protocol FieldSource {
    func contains(_ field: String) -> Bool

    /// Returns the value of a field as text: a date as RFC 3339, a number as decimal digits, a Boolean value as `true` or `false`.
    func text(_ field: String, _ type: FieldType) throws(ItemError) -> String

    func wholeNumber(_ field: String) throws(ItemError) -> String

    func value<Value: Decodable>(_ type: Value.Type, of field: String) throws -> Value
}

extension FieldSource {
    func wholeNumber(_ field: String) throws(ItemError) -> String { try text(field, .number) }

    func value<Value: Decodable>(_ type: Value.Type, of field: String) throws -> Value {
        try Value(from: ScalarDecoder(source: self, field: field))
    }
}

/// Decodes a `Codable` type whose properties are fields: texts, numbers, dates, URLs and Boolean values.
struct FieldDecoder<Source: FieldSource>: Decoder {
    let source: Source
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldContainer(source: source))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ItemError(reason: "is an array, not an object with fields") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw ItemError(reason: "is a single value, not an object with fields")
    }
}

extension FieldSource {
    private func number<Number: LosslessStringConvertible>(_ type: Number.Type, _ field: String) throws(ItemError) -> Number {
        let text = Number.self is any BinaryInteger.Type ? try wholeNumber(field) : try text(field, .number)
        guard let number = Number(text) else {
            let isWhole = !text.contains(".") && !text.contains("e")
            throw ItemError(
                field: field, reason: isWhole ? "is out of range, is \(text)" : "must be a whole number, is \(text)",
                code: isWhole ? .outOfRange : .invalid)
        }
        return number
    }

    fileprivate func decoded<Value: Decodable>(_ type: Value.Type, _ field: String) throws -> Value {
        let scalar: Any?
        switch type {
        case is Bool.Type: scalar = try text(field, .boolean) == "true"
        case is String.Type: scalar = try text(field, .text)
        case let type as any (LosslessStringConvertible & Numeric).Type: scalar = try number(type, field)
        case is URL.Type: scalar = URL(string: try text(field, .url))
        case is Date.Type: scalar = Date(rfc3339: try text(field, .date))
        case is UUID.Type: scalar = UUID(uuidString: try text(field, .text))
        case is Decimal.Type: scalar = Decimal(string: try text(field, .number))
        default: return try value(type, of: field)
        }
        guard let value = scalar as? Value else { throw ItemError(field: field, reason: "is not a valid \(type)") }
        return value
    }
}

extension Date {
    /// Parses a date, which is its midnight in UTC, or a date with time and offset (RFC 3339).
    init?(rfc3339 text: String) {
        guard let milliseconds = Timestamp.milliseconds(of: text.utf8.count == 10 ? text + "T00:00:00Z" : text) else { return nil }
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    /// The date as RFC 3339 with milliseconds, in UTC.
    var rfc3339: String {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        return Timestamp.exactText(milliseconds: Int64(exactly: milliseconds) ?? 0)
    }
}

private struct FieldContainer<Key: CodingKey, Source: FieldSource>: KeyedDecodingContainerProtocol {
    let source: Source
    let codingPath: [any CodingKey] = []
    let allKeys: [Key] = []

    func contains(_ key: Key) -> Bool { source.contains(key.stringValue) }
    func decodeNil(forKey key: Key) throws -> Bool { !source.contains(key.stringValue) }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try source.decoded(type, key.stringValue) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw ItemError.nested(key.stringValue)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw ItemError.array(key.stringValue) }
    func superDecoder() throws -> any Decoder { throw ItemError.nested("super") }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw ItemError.nested(key.stringValue) }
}

struct ScalarDecoder<Source: FieldSource>: Decoder, SingleValueDecodingContainer {
    let source: Source
    let field: String
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw ItemError.nested(field) }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ItemError.array(field) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { !source.contains(field) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try source.decoded(type, field) }
}

extension ItemError {
    fileprivate static let types = "fields are texts, numbers, Boolean values, dates (Date), URLs, and enums of texts"

    fileprivate static func nested(_ field: String) -> ItemError {
        ItemError(field: field, reason: "is an object with members, which no field can have; \(types)")
    }

    fileprivate static func array(_ field: String) -> ItemError {
        ItemError(field: field, reason: "is an array, which no field can have; \(types)")
    }

    init(wrapping error: any Error) {
        switch error {
        case let error as ItemError: self = error
        case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
            DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            self.init(field: context.codingPath.last?.stringValue, reason: context.debugDescription)
        default: self.init(reason: "\(error)")
        }
    }
}
