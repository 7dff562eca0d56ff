internal import HTTPTypes
internal import IntertwinePrimitives

package protocol RequestParameter: Sendable {
    var description: ParameterDescription { get }
    func read(_ request: RouteRequest) throws(Problem) -> any Sendable
}

package struct ParameterDescription: Sendable {
    package enum Location: String, Sendable { case path, query, header }

    package var name: String
    package var location: Location
    package var isRequired: Bool
    package var text: String
    package var schema: Schema
    package var example: String?

    var value: JSONValue {
        .object(
            [
                .init("name", .text(name)), .init("in", .text(location.rawValue)), isRequired ? .init("required", .flag(true)) : nil,
                .init("description", .text(text)), .init("schema", schema.value), example.map { .init("example", .example($0)) },
            ].compactMap { $0 })
    }
}

/// A parameter with a typed value that a handler reads: `try request[limit]`.
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

// MARK: Path parameters

extension Parameter where Value == String {
    /// Creates a parameter for a path segment, decoded and never empty.
    package static func segment(_ name: String, _ schema: Schema, _ text: String, example: String) -> Parameter {
        let description = ParameterDescription(name: name, location: .path, isRequired: true, text: text, schema: schema, example: example)
        return Parameter(description) { (request) throws(Problem) in request.segment(name) }
    }
}

// MARK: Query parameters

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
        let schema = Schema.integer(minimum: range.lowerBound, maximum: range.upperBound).defaulting(to: .integer(Int64(usual)))
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
    package static func flag(_ name: String, _ text: String) -> Parameter {
        query(name, Schema.boolean.defaulting(to: .flag(false)), text, example: "true") { (query) throws(Problem) in try query.flag(name) }
    }
}

extension Parameter where Value: CaseIterable & RawRepresentable<String> {
    package static func word(_ name: String, default usual: Value, _ text: String, example: Value) -> Parameter {
        let schema = Schema.words(Value.self).defaulting(to: .text(usual.rawValue))
        return query(name, schema, text, example: "\"\(example.rawValue)\"") { (query) throws(Problem) in
            try query.word(name) ?? usual
        }
    }
}

extension Parameter where Value == String? {
    package static func text(
        _ name: String, _ schema: Schema, _ text: String, isRequired: Bool = false, example: String?,
        check: @escaping @Sendable (Query) throws(Problem) -> String?
    ) -> Parameter {
        query(name, schema, text, isRequired: isRequired, example: example, parse: check)
    }
}

extension Parameter where Value == Void {
    package static func described(_ name: String, _ schema: Schema, _ text: String, example: String? = nil) -> Parameter {
        query(name, schema, text, example: example) { (_) throws(Problem) in }
    }
}

// MARK: Header fields

extension Parameter where Value == Void {
    package static func field(_ name: String, _ schema: Schema, _ text: String, isRequired: Bool = false, example: String) -> Parameter {
        Parameter(
            ParameterDescription(name: name, location: .header, isRequired: isRequired, text: text, schema: schema, example: example)
        ) { (_) throws(Problem) in }
    }
}

extension Parameter where Value == Void {
    package static var ifNoneMatch: Parameter {
        field(
            "If-None-Match", .string, "Entity tags of the client's copies; the response is 304 if one of them is current.",
            example: #""\"a7f926ae9b1ba20481b0fe74\"""#)
    }
}

extension Parameter where Value == String? {
    private static var longestKey: Int { 255 }

    package static var idempotencyKey: Parameter {
        let description = ParameterDescription(
            name: "Idempotency-Key", location: .header, isRequired: false,
            text:
                "A repeated request with the same key gets the stored response for 24 hours, without running again. Another request with the key "
                + "is rejected (422). Keys belong to the viewer, or to the address if the request names no viewer.",
            schema: .string(minLength: 1, maxLength: longestKey, pattern: "^[!-~]+$"), example: #""5f8b1a52-3a59-4c6e-9f4e-6a2d1c0b7e90""#)
        return Parameter(description) { (request) throws(Problem) in
            guard let name = HTTPField.Name("Idempotency-Key"), let key = request.head.headerFields[name] else { return nil }
            guard !key.isEmpty, key.utf8.count <= longestKey, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .invalidParameter(
                    "Idempotency-Key", key.utf8.count > longestKey ? .tooLong : .invalid,
                    "Idempotency-Key must be 1 to \(longestKey) visible ASCII characters.")
            }
            return key
        }
    }
}

package struct Query: Sendable {
    private let pairs: [(name: Substring, value: Substring)]

    package init(_ text: Substring) {
        pairs = text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Substring(pair[..<end])
            return (PercentCoding.decode(name).map { Substring($0) } ?? name, Substring(pair[end...].dropFirst()))
        }
    }

    package func text(_ name: String) throws(Problem) -> String? {
        let found = pairs.filter { $0.name == name }
        guard let first = found.first else { return nil }
        guard found.count == 1 else { throw .invalidParameter(name, .duplicate, "\(name) occurs more than once in the query.") }
        // Forms and the libraries of most languages encode a space as `+`.
        guard let value = PercentCoding.decode(Substring(first.value.replacing("+", with: " "))) else {
            throw .invalidParameter(name, .invalid, "\(name) is not valid UTF-8.")
        }
        return value
    }

    /// Returns the parameters with these names, decoded.
    package func pairs(where isWanted: (String) -> Bool) throws(Problem) -> [(name: String, value: String)] {
        try pairs.filter { isWanted(String($0.name)) }.map { pair throws(Problem) in
            guard let value = PercentCoding.decode(Substring(pair.value.replacing("+", with: " "))) else {
                throw .invalidParameter(String(pair.name), .invalid, "\(pair.name) is not valid UTF-8.")
            }
            return (String(pair.name), value)
        }
    }

    /// Why: a typing error in `dryRun` must not change anything.
    package func refuseParameters(besides known: [String]) throws(Problem) {
        guard let name = pairs.first(where: { !$0.name.isEmpty && !known.contains(String($0.name)) })?.name else { return }
        let all = known.isEmpty ? "It takes none" : "It takes \(known.joined(separator: ", "))"
        throw .invalidParameter(String(name), .unknown, "\(name) is not a parameter of this request. \(all).")
    }

    package func integer(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws(Problem) -> Int {
        try integer(name, in: range) ?? fallback
    }

    package func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = try text(name) else { return nil }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let value = Int(text), range.contains(value) else {
            throw .invalidParameter(
                name, isNumber ? .outOfRange : .invalid,
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    package func flag(_ name: String) throws(Problem) -> Bool {
        switch try text(name) {
        case nil, "false": return false
        case "true": return true
        default: throw .invalidParameter(name, .unknown, "\(name) must be true or false.")
        }
    }

    package func word<Word: CaseIterable & RawRepresentable<String>>(_ name: String) throws(Problem) -> Word? {
        guard let text = try text(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue)
            let list = words.count > 2 ? "one of \(words.joined(separator: ", "))" : words.joined(separator: " or ")
            throw .invalidParameter(name, .unknown, "\(name) must be \(list).")
        }
        return word
    }
}
