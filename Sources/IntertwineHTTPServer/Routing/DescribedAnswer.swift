package protocol SchemaDescribed: Codable, Sendable {
    static func described() throws -> (schema: Schema, value: Self)
}

package protocol DescribedAnswer: SchemaDescribed {
    static var about: String? { get }
    static var notes: [String: PropertyNote] { get }
}

package struct PropertyNote: Sendable, ExpressibleByStringLiteral {
    fileprivate var schema: Schema?
    fileprivate var text: String?

    package init(stringLiteral text: String) { self.text = text }

    package init(_ schema: Schema, _ text: String? = nil) { (self.schema, self.text) = (schema, text) }
}

extension DescribedAnswer {
    package static var about: String? { nil }
    package static var notes: [String: PropertyNote] { [:] }

    package static func described() throws -> (schema: Schema, value: Self) {
        let recorder = PropertyRecorder(notes)
        let value = try Self(from: recorder)
        let schema = Schema.object(recorder.properties)
        return ((about.map(schema.described) ?? schema).named("\(Self.self)"), value)
    }

    package static var schema: Schema {
        do { return try described().schema } catch { preconditionFailure("\(Self.self): \(error)") }
    }
}

/// Records the properties that a type decodes. Why: a decoder learns their names and types without a value of the type.
private final class PropertyRecorder: Decoder {
    private let notes: [String: PropertyNote]
    private(set) var properties: [Schema.Property] = []
    fileprivate var optional: String?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ notes: [String: PropertyNote]) { self.notes = notes }

    func record<Value>(_ type: Value.Type, _ name: String) throws -> Value {
        let described = try (type as? any SchemaDescribed.Type)?.described()
        guard let described, let value = described.value as? Value else { throw UndescribedTypeError(name: name) }
        let note = notes[name]
        let schema = note?.schema ?? described.schema
        // A property that can be null is encoded as null.
        let isOptional = optional == name && !schema.allowsNull
        properties.append(isOptional ? .optional(name, schema, note?.text) : .required(name, schema, note?.text))
        return value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(PropertyContainer(recorder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw UndescribedTypeError(name: "a list") }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw UndescribedTypeError(name: "a value") }
}

private struct PropertyContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: PropertyRecorder
    let codingPath: [any CodingKey] = []
    let allKeys: [Key] = []

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) -> Bool {
        recorder.optional = key.stringValue
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try recorder.record(type, key.stringValue) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw UndescribedTypeError(name: key.stringValue)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw UndescribedTypeError(name: key.stringValue)
    }
    func superDecoder() throws -> any Decoder { recorder }
    func superDecoder(forKey key: Key) throws -> any Decoder { recorder }
}

private struct UndescribedTypeError: Error {
    let name: String
}

extension String: SchemaDescribed {
    package static func described() -> (schema: Schema, value: String) { (.string, "") }
}

extension Bool: SchemaDescribed {
    package static func described() -> (schema: Schema, value: Bool) { (.boolean, false) }
}

extension Int: SchemaDescribed {
    package static func described() -> (schema: Schema, value: Int) { (.count, 0) }
}

extension Int64: SchemaDescribed {
    package static func described() -> (schema: Schema, value: Int64) { (.count, 0) }
}

extension Double: SchemaDescribed {
    package static func described() -> (schema: Schema, value: Double) { (.number, 0) }
}

extension Array: SchemaDescribed where Element: SchemaDescribed {
    package static func described() throws -> (schema: Schema, value: [Element]) { (.list(of: try Element.described().schema), []) }
}
