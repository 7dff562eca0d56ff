/// The members of one JSON object, parsed strictly and stored as ranges of the source bytes.
/// A duplicate name is valid JSON with undefined meaning (RFC 8259 §4): parsing the object succeeds, and reading that name through
/// `ItemFields` fails.
package struct JSONObject: Sendable {
    package let bytes: [UInt8]
    package let members: [(name: JSONToken, value: JSONToken)]
    package let range: Range<Int>

    package init(_ bytes: [UInt8]) throws(JSONError) { try self.init(bytes, isLenient: false) }

    package init(_ bytes: [UInt8], isLenient: Bool) throws(JSONError) {
        try self.init(bytes, at: 0, isLenient: isLenient)
        var scanner = JSONScanner(at: range.upperBound)
        scanner.skipWhitespace(bytes.span)
        guard scanner.position == bytes.count || isLenient && JSONPreamble.isEnd(bytes[scanner.position...]) else {
            throw JSONError(.trailingBytes, at: scanner.position)
        }
    }

    package init(_ bytes: [UInt8], at offset: Int, isLenient: Bool = false) throws(JSONError) {
        let span = bytes.span
        var scanner = JSONScanner(at: offset, isLenient: isLenient)
        scanner.skipWhitespace(span)
        let start = scanner.position
        guard start < span.count else { throw JSONError(.endOfText, at: start) }
        guard span[start] == UInt8(ascii: "{") else { throw JSONError(.expectedObject, at: start) }
        scanner.position += 1
        var members: [(name: JSONToken, value: JSONToken)] = []
        members.reserveCapacity(8)
        scanner.skipWhitespace(span)
        if scanner.position < span.count, span[scanner.position] == UInt8(ascii: "}") {
            scanner.position += 1
        } else {
            var isOpen = true
            while isOpen {
                scanner.skipWhitespace(span)
                if isLenient, !members.isEmpty, scanner.position < span.count, span[scanner.position] == UInt8(ascii: "}") {
                    scanner.position += 1
                    break
                }
                let name = try scanner.name(span)
                scanner.skipWhitespace(span)
                let value = try scanner.value(span)
                members.append((name, value))
                scanner.skipWhitespace(span)
                guard scanner.position < span.count else { throw JSONError(.endOfText, at: scanner.position) }
                switch span[scanner.position] {
                case UInt8(ascii: ","): break
                case UInt8(ascii: "}"): isOpen = false
                default: throw JSONError(.expectedCommaOrEnd, at: scanner.position)
                }
                scanner.position += 1
            }
        }
        self.bytes = bytes
        self.members = members
        self.range = start..<scanner.position
    }

    /// The values of an object whose names are whole numbers, as PHP writes a list after elements were removed. Values with other names after
    /// the first one are left out. Nil for another object.
    package var listElements: [JSONToken]? {
        func isIndex(_ name: JSONToken) -> Bool { Int(String(decoding: characters(of: name), as: UTF8.self)) != nil }
        guard let first = members.first, isIndex(first.name) else { return nil }
        return members.filter { isIndex($0.name) }.map(\.value)
    }

    package func removing(_ name: String) -> JSONObject {
        JSONObject(bytes: bytes, members: members.filter { !matches($0.name, name) }, range: range)
    }

    package func replacing(_ name: String, with value: some Sequence<UInt8>) throws(JSONError) -> JSONObject {
        var json = [UInt8(ascii: "{")]
        json.append(jsonString: name.utf8)
        json.append(UInt8(ascii: ":"))
        json += value
        for member in members where !matches(member.name, name) {
            json += [UInt8(ascii: ",")] + raw(member.name) + [UInt8(ascii: ":")] + raw(member.value)
        }
        return try JSONObject(json + [UInt8(ascii: "}")], isLenient: true)
    }

    private init(bytes: [UInt8], members: [(name: JSONToken, value: JSONToken)], range: Range<Int>) {
        (self.bytes, self.members, self.range) = (bytes, members, range)
    }

    /// The bytes of a token, with the quotes of a string.
    package func raw(_ token: JSONToken) -> ArraySlice<UInt8> {
        bytes[token.kind == .string ? token.range.lowerBound - 1..<token.range.upperBound + 1 : token.range]
    }

    package func characters(of token: JSONToken) -> ArraySlice<UInt8> {
        guard token.isEscaped else { return bytes[token.range] }
        return JSONText.unescaped(bytes.span, token.range)[...]
    }

    package func matches(_ token: JSONToken, _ text: String) -> Bool {
        guard !token.isEscaped else { return characters(of: token).elementsEqual(text.utf8) }
        guard token.range.count == text.utf8.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            let isSame = text.utf8.withContiguousStorageIfAvailable { text in
                var (index, isSame) = (token.range.lowerBound, true)
                for byte in text {
                    isSame = isSame && bytes[index] == byte
                    index += 1
                }
                return isSame
            }
            return isSame ?? bytes[token.range].elementsEqual(text.utf8)
        }
    }
}

/// The elements of one JSON array, parsed strictly and stored as ranges of the source bytes.
package struct JSONArray: Sendable {
    package let bytes: [UInt8]
    package let elements: [JSONToken]

    package init(_ bytes: [UInt8], isLenient: Bool = false) throws(JSONError) {
        let span = bytes.span
        var scanner = JSONScanner(isLenient: isLenient)
        scanner.skipWhitespace(span)
        guard scanner.position < span.count else { throw JSONError(.endOfText, at: scanner.position) }
        guard span[scanner.position] == UInt8(ascii: "[") else { throw JSONError(.expectedArray, at: scanner.position) }
        scanner.position += 1
        var elements: [JSONToken] = []
        var isOpen = true
        while isOpen {
            scanner.skipWhitespace(span)
            if elements.isEmpty || isLenient, scanner.position < span.count, span[scanner.position] == UInt8(ascii: "]") {
                scanner.position += 1
                break
            }
            // Two commas have an invalid element between them.
            let isMissing = isLenient && scanner.position < span.count && span[scanner.position] == UInt8(ascii: ",")
            elements.append(isMissing ? JSONToken(.invalid, scanner.position..<scanner.position) : try scanner.value(span))
            scanner.skipWhitespace(span)
            guard scanner.position < span.count else { throw JSONError(.endOfText, at: scanner.position) }
            switch span[scanner.position] {
            case UInt8(ascii: ","): break
            case UInt8(ascii: "]"): isOpen = false
            default: throw JSONError(.expectedCommaOrEnd, at: scanner.position)
            }
            scanner.position += 1
        }
        scanner.skipWhitespace(span)
        guard scanner.position == span.count else { throw JSONError(.trailingBytes, at: scanner.position) }
        self.bytes = bytes
        self.elements = elements
    }

    /// The bytes of an element, with the quotes of a string.
    package func raw(_ element: JSONToken) -> ArraySlice<UInt8> {
        bytes[element.kind == .string ? element.range.lowerBound - 1..<element.range.upperBound + 1 : element.range]
    }

    package func bytes(of element: JSONToken) -> [UInt8] {
        Array(bytes[element.range])
    }
}
