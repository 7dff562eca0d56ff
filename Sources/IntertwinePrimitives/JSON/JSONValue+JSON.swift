extension JSONValue {
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 1_024)
        writer.write(self)
        return writer.bytes
    }

    package init(json bytes: [UInt8]) throws(JSONError) {
        var scanner = JSONScanner()
        scanner.skipWhitespace(bytes.span)
        try self.init(try scanner.value(bytes.span), in: bytes)
    }

    private init(_ token: JSONToken, in bytes: [UInt8]) throws(JSONError) {
        switch token.kind {
        case .string:
            let characters = token.isEscaped ? JSONText.unescaped(bytes.span, token.range)[...] : bytes[token.range]
            self = .text(String(decoding: characters, as: UTF8.self))
        case .number:
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            self = Int64(text).map { .integer($0) } ?? .number(Double(text) ?? .nan)
        case .object:
            let object = try JSONObject(Array(bytes[token.range]))
            var members: [Member] = []
            for member in object.members {
                members.append(
                    Member(
                        String(decoding: object.characters(of: member.name), as: UTF8.self), try JSONValue(member.value, in: object.bytes)
                    ))
            }
            self = .object(members)
        case .array:
            let array = try JSONArray(Array(bytes[token.range]))
            var values: [JSONValue] = []
            for element in array.elements { values.append(try JSONValue(element, in: array.bytes)) }
            self = .list(values)
        case .null: self = .null
        case .invalid: throw JSONError(.expectedValue, at: token.range.lowerBound)
        case .boolean: self = .flag(bytes[token.range].elementsEqual("true".utf8))
        }
    }
}
