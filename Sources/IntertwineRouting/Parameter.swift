internal import HTTPTypes
internal import IntertwinePrimitives

/// Something that a request says besides its body: how it is described, and how it is read.
package protocol RequestParameter: Sendable {
    var description: ParameterDescription { get }
    /// - Throws: ``Problem`` where the request does not have it as described.
    func read(_ request: RouteRequest) throws(Problem) -> any Sendable
}

package struct ParameterDescription: Sendable {
    package enum Location: String, Sendable { case path, query, header }

    package var name: String
    package var location: Location
    package var isRequired: Bool
    package var text: String
    package var schema: Schema
    /// JSON; nil for what no client can make up.
    package var example: String?

    var value: OpenAPIValue {
        .object(
            [
                .init("name", .text(name)), .init("in", .text(location.rawValue)), isRequired ? .init("required", .flag(true)) : nil,
                .init("description", .text(text)), .init("schema", schema.value), example.map { .init("example", .literal($0)) },
            ].compactMap { $0 })
    }
}

/// A parameter whose value a handler reads as what it is: `try request[limit]`.
package struct Parameter<Value: Sendable>: RequestParameter {
    package var description: ParameterDescription
    private let parse: @Sendable (RouteRequest) throws(Problem) -> Value

    package init(_ description: ParameterDescription, parse: @escaping @Sendable (RouteRequest) throws(Problem) -> Value) {
        self.description = description
        self.parse = parse
    }

    package func value(_ request: RouteRequest) throws(Problem) -> Value { try parse(request) }

    package func read(_ request: RouteRequest) throws(Problem) -> any Sendable { try parse(request) }
}

// MARK: In the path

extension Parameter where Value == String {
    /// A segment of the path, decoded; never empty.
    package static func segment(_ name: String, _ schema: Schema, _ text: String, example: String) -> Parameter {
        let description = ParameterDescription(name: name, location: .path, isRequired: true, text: text, schema: schema, example: example)
        return Parameter(description) { (request) throws(Problem) in request.segment(name) }
    }
}

extension Parameter where Value: CaseIterable & RawRepresentable<String> {
    /// A segment of the path that is one of a type's words.
    package static func segment(_ name: String, _ text: String, example: Value) -> Parameter {
        let description = ParameterDescription(
            name: name, location: .path, isRequired: true, text: text, schema: .words(Value.self), example: "\"\(example.rawValue)\"")
        return Parameter(description) { (request) throws(Problem) in try Query.word(request.segment(name), of: name) }
    }
}

// MARK: In the query

extension Parameter {
    private static func query(
        _ name: String, _ schema: Schema, _ text: String, isRequired: Bool = false, example: String?,
        parse: @escaping @Sendable (Query) throws(Problem) -> Value
    ) -> Parameter {
        Parameter(
            ParameterDescription(name: name, location: .query, isRequired: isRequired, text: text, schema: schema, example: example)
        ) { (request) throws(Problem) in try parse(request.query) }
    }
}

extension Parameter where Value == Int {
    package static func integer(_ name: String, in range: ClosedRange<Int>, default usual: Int, _ text: String, example: Int) -> Parameter {
        let schema = Schema.integer(minimum: range.lowerBound, maximum: range.upperBound).defaulting(to: .integer(usual))
        return query(name, schema, text, example: String(example)) { (query) throws(Problem) in
            try query.integer(name, in: range, default: usual)
        }
    }
}

extension Parameter where Value == Int? {
    package static func integer(_ name: String, in range: ClosedRange<Int>, _ text: String, example: Int) -> Parameter {
        query(name, .integer(minimum: range.lowerBound, maximum: range.upperBound), text, example: String(example)) {
            (query) throws(Problem) in try query.integer(name, in: range)
        }
    }
}

extension Parameter where Value == Bool {
    /// `true` or `false`, the latter where it is missing.
    package static func flag(_ name: String, _ text: String) -> Parameter {
        query(name, Schema.boolean.defaulting(to: .flag(false)), text, example: "true") { (query) throws(Problem) in try query.flag(name) }
    }
}

extension Parameter where Value: CaseIterable & RawRepresentable<String> {
    /// One of a type's words.
    package static func word(_ name: String, default usual: Value, _ text: String, example: Value) -> Parameter {
        let schema = Schema.words(Value.self).defaulting(to: .text(usual.rawValue))
        return query(name, schema, text, example: "\"\(example.rawValue)\"") { (query) throws(Problem) in
            try query.word(name) ?? usual
        }
    }
}

extension Parameter where Value == String? {
    /// A text that the route reads in its own way.
    package static func text(
        _ name: String, _ schema: Schema, _ text: String, isRequired: Bool = false, example: String?,
        check: @escaping @Sendable (Query) throws(Problem) -> String?
    ) -> Parameter {
        query(name, schema, text, isRequired: isRequired, example: example, parse: check)
    }
}

extension Parameter where Value == Void {
    /// One that the route reads off the query together with others.
    package static func described(_ name: String, _ schema: Schema, _ text: String, example: String? = nil) -> Parameter {
        query(name, schema, text, example: example) { (_) throws(Problem) in }
    }
}

// MARK: In the head

extension Parameter where Value == Void {
    /// A field that the server itself heeds, or whoever reads the client from the request: described here, read there.
    package static func field(_ name: String, _ schema: Schema, _ text: String, isRequired: Bool = false, example: String) -> Parameter {
        Parameter(
            ParameterDescription(name: name, location: .header, isRequired: isRequired, text: text, schema: schema, example: example)
        ) { (_) throws(Problem) in }
    }
}

extension Parameter where Value == Void {
    package static var ifNoneMatch: Parameter {
        field(
            "If-None-Match", .string, "Entity tags of what the client has; one that is still right is answered 304.",
            example: #""\"a7f926ae9b1ba20481b0fe74\"""#)
    }
}

extension Parameter where Value == String? {
    private static var longestKey: Int { 255 }

    /// `Idempotency-Key`: 1 to 255 visible ASCII characters.
    package static var idempotencyKey: Parameter {
        let description = ParameterDescription(
            name: "Idempotency-Key", location: .header, isRequired: false,
            text: "The same key within 24 hours gets the same answer, and nothing is run again; with another request under it, 422. "
                + "It belongs to its viewer, or its address where no viewer is named.",
            schema: .string(minLength: 1, maxLength: longestKey, pattern: "^[!-~]+$"), example: #""5f8b1a52-3a59-4c6e-9f4e-6a2d1c0b7e90""#)
        return Parameter(description) { (request) throws(Problem) in
            guard let name = HTTPField.Name("Idempotency-Key"), let key = request.head.headerFields[name] else { return nil }
            guard !key.isEmpty, key.utf8.count <= longestKey, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw Problem(.badRequest, .invalidParameter, "Idempotency-Key must be 1 to \(longestKey) visible ASCII characters.")
            }
            return key
        }
    }
}

/// The parameters of a query, as `name=value` pairs. Parameters that nobody asks for are ignored.
package struct Query: Sendable {
    private let pairs: [(name: Substring, value: Substring)]

    package init(_ text: Substring) {
        pairs = text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Substring(pair[..<end])
            return (PercentCoding.decode(name).map { Substring($0) } ?? name, Substring(pair[end...].dropFirst()))
        }
    }

    /// The value of a parameter, or nil where it is not there.
    ///
    /// - Throws: ``Problem`` (400) where it stands there twice or is damaged.
    package func text(_ name: String) throws(Problem) -> String? {
        let found = pairs.filter { $0.name == name }
        guard let first = found.first else { return nil }
        guard found.count == 1 else { throw Self.invalid("\(name) stands in the query more than once.") }
        // As forms and the libraries of most languages write a space.
        guard let value = PercentCoding.decode(Substring(first.value.replacing("+", with: " "))) else {
            throw Self.invalid("\(name) is not valid UTF-8.")
        }
        return value
    }

    /// - Throws: ``Problem`` (400) where the value is anything but digits, or not within the range.
    package func integer(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws(Problem) -> Int {
        try integer(name, in: range) ?? fallback
    }

    /// The same, or nil where the parameter is not there.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = try text(name) else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text), range.contains(value) else {
            throw Self.invalid("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    /// - Throws: ``Problem`` (400) where the value is neither `true` nor `false`.
    package func flag(_ name: String) throws(Problem) -> Bool {
        switch try text(name) {
        case nil, "false": return false
        case "true": return true
        default: throw Self.invalid("\(name) must be true or false.")
        }
    }

    /// - Throws: ``Problem`` (400) where the value is none of the type's words.
    package func word<Word: CaseIterable & RawRepresentable<String>>(_ name: String) throws(Problem) -> Word? {
        guard let text = try text(name) else { return nil }
        return try Self.word(text, of: name)
    }

    /// The same of a text from elsewhere.
    static func word<Word: CaseIterable & RawRepresentable<String>>(_ text: String, of name: String) throws(Problem) -> Word {
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue)
            let list = words.count > 2 ? "one of \(words.joined(separator: ", "))" : words.joined(separator: " or ")
            throw invalid("\(name) must be \(list).")
        }
        return word
    }

    private static func invalid(_ detail: String) -> Problem { Problem(.badRequest, .invalidParameter, detail) }
}
