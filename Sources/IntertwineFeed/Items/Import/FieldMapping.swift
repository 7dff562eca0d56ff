internal import Foundation
internal import IntertwinePrimitives

package struct FieldMapping: Sendable, Hashable {
    package struct Origin: Sendable, Hashable {
        package enum Place: Sendable, Hashable {
            case first([JSONPointer])
            case constant(String)
            case template(SourceTemplate)
        }

        /// The use of a list, or of the parts of a text.
        package enum Parts: Sendable, Hashable {
            case joined(each: JSONPointer?, by: String)
            case list(each: JSONPointer)
            case split(by: String)
        }

        package var place: Place
        package var form: SourceForm?
        package var parts: Parts?

        package init(_ place: Place, as form: SourceForm? = nil) {
            (self.place, self.form) = (place, form)
        }

        package static func pointer(_ pointer: JSONPointer) -> Origin { Origin(.first([pointer])) }
        package static func constant(_ text: String) -> Origin { Origin(.constant(text)) }

        /// The texts of a value that has parts; nil for another value.
        fileprivate func texts(of value: SourceValue) throws(ItemError) -> [String]? {
            var values: [SourceValue]?
            switch parts {
            case .joined(let each, _): values = try each.map { (each) throws(ItemError) in try value.values(at: each) } ?? value.elements
            case .list(let each): values = try value.values(at: each)
            case .split(let separator):
                guard case .text(let text) = value else { return nil }
                values = text.split(separator: separator).map { .text($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            case nil: return nil
            }
            return values?.compactMap { (form ?? .plain).text(of: $0) }.filter { !$0.allSatisfy(\.isWhitespace) }
        }
    }

    private let fields: [(name: String, origin: Origin)]

    package init(_ fields: [(name: String, origin: Origin)]) {
        self.fields = fields
    }

    package static func == (left: FieldMapping, right: FieldMapping) -> Bool {
        left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        for field in fields {
            hasher.combine(field.name)
            hasher.combine(field.origin)
        }
    }

    func fields(from object: JSONObject) throws(ItemError) -> ItemFields {
        var bytes = [UInt8(ascii: "{")]
        bytes.reserveCapacity(object.range.count)
        var unconverted: [String: ItemError] = [:]
        for (name, origin) in fields {
            let value: [UInt8]
            // The kind decides what such a value costs: a field that is not required is left out.
            do throws(ItemError) {
                guard let found = try Self.value(of: origin, named: name, in: object) else { continue }
                value = found
            } catch {
                unconverted[name] = ItemError(field: name, reason: error.reason, code: error.code)
                value = Array("null".utf8)
            }
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(jsonString: name.utf8)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: value)
        }
        bytes.append(UInt8(ascii: "}"))
        var item = try ItemFields(bytes, isLenient: true)
        item.unconverted = unconverted
        return item
    }

    private static func value(of origin: Origin, named name: String, in object: JSONObject) throws(ItemError) -> [UInt8]? {
        switch origin.place {
        case .constant(let text): return quoted(text)
        case .template(let template): return try template.text(from: object).map(quoted)
        case .first(let pointers):
            var unconverted: [UInt8]?
            for pointer in pointers {
                guard let token = try pointer.value(in: object), token.kind != .null else { continue }
                let raw = object.raw(token)
                let value = SourceValue(token, in: object)
                if SourceForm.isNoDate(value, in: name, as: origin.form) { continue }
                if let texts = try origin.texts(of: value) {
                    if texts.isEmpty { continue }
                    if case .joined(_, let separator) = origin.parts { return quoted(texts.joined(separator: separator)) }
                    return Array("[".utf8) + texts.map(quoted).joined(separator: [UInt8(ascii: ",")]) + Array("]".utf8)
                }
                if let moment = origin.form?.moment(of: value, in: name) { return quoted(moment) }
                if let form = origin.form {
                    let text = form.text(of: value)
                    guard !value.isAbsent, text?.allSatisfy(\.isWhitespace) != true else { continue }
                    if let text { return form.isNumber ? Array(text.utf8) : quoted(text) }
                    unconverted = unconverted ?? Array(raw)
                } else if !value.isAbsent || pointers.count == 1 {
                    return Array(raw)
                }
            }
            // The kind reports what is wrong with a value that is no text. A date or number that is no such text would be valid in a text field.
            guard let unconverted, let expected = origin.form?.expectation else { return unconverted }
            throw ItemError(reason: "must be \(expected), is \(ItemError.shown(unconverted))")
        }
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(jsonString: text.utf8)
        return bytes
    }

    func located(_ fault: ItemError) -> ItemError {
        guard let field = fault.field, let origin = fields.first(where: { $0.name == field })?.origin,
            case .first(let pointers) = origin.place
        else { return fault }
        return ItemError(field: "\(field) (from \(pointers.map(\.description).joined(separator: ", ")))", reason: fault.reason)
    }
}

enum SourceValue {
    case text(String)
    case literal(String)
    case list([SourceValue])
    case object(JSONObject)
    case none

    init(_ token: JSONToken, in object: JSONObject) { self.init(token, in: object.bytes) }

    private init(_ token: JSONToken, in bytes: [UInt8]) {
        switch token.kind {
        case .string:
            let characters = token.isEscaped ? JSONText.unescaped(bytes.span, token.range)[...] : bytes[token.range]
            self = .text(String(decoding: characters, as: UTF8.self))
        case .number, .boolean: self = .literal(String(decoding: bytes[token.range], as: UTF8.self))
        case .array:
            let array = try? JSONArray(Array(bytes[token.range]), isLenient: true)
            self = .list(array.map { array in array.elements.map { SourceValue($0, in: array.bytes) } } ?? [])
        case .object: self = (try? JSONObject(bytes, at: token.range.lowerBound, isLenient: true)).map { .object($0) } ?? .none
        case .null, .invalid: self = .none
        }
    }

    var isAbsent: Bool {
        switch self {
        case .text(let text): text.allSatisfy(\.isWhitespace)
        case .list(let elements): elements.isEmpty
        case .literal, .object: false
        case .none: true
        }
    }

    var plain: String? {
        switch self {
        case .text(let text), .literal(let text): text
        case .list, .object, .none: nil
        }
    }

    var elements: [SourceValue]? {
        switch self {
        case .list(let elements): elements
        case .object(let object): object.listElements?.map { SourceValue($0, in: object) }
        case .text, .literal, .none: nil
        }
    }

    /// The value in each element of a list. Converters of XML write a list of one element as the element.
    func values(at pointer: JSONPointer) throws(ItemError) -> [SourceValue]? {
        if let elements { return try elements.map { (element) throws(ItemError) in try element.value(at: pointer) } }
        let value = try value(at: pointer)
        return value.isAbsent ? nil : [value]
    }

    func value(at pointer: JSONPointer) throws(ItemError) -> SourceValue {
        guard case .object(let object) = self, let token = try pointer.value(in: object) else { return .none }
        return SourceValue(token, in: object)
    }
}

/// A text with pointers in double braces, such as `https://shop.example/products/{{handle}}`.
package struct SourceTemplate: Sendable, Hashable {
    private let literals: [String]
    private let pointers: [JSONPointer]
    private let isURL: Bool

    package init?(_ text: String) {
        var (literals, pointers): ([String], [JSONPointer]) = ([], [])
        var rest = Substring(text)
        while let start = rest.firstRange(of: "{{") {
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else { return nil }
            let name = rest[start.upperBound..<end.lowerBound].drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            guard !name.isEmpty, let pointer = name.first == "/" ? JSONPointer(String(name)) : JSONPointer(member: String(name)) else {
                return nil
            }
            literals.append(String(rest[..<start.lowerBound]))
            pointers.append(pointer)
            rest = rest[end.upperBound...]
        }
        (self.literals, self.pointers) = (literals + [String(rest)], pointers)
        // As browsers read it: with leading controls, and with backslashes.
        let start = self.literals[0].drop { $0 <= " " }.lowercased()
        isURL = start.prefixMatch(of: /https?:|[\/\\]{2}/) != nil
        guard !pointers.isEmpty, !isURL || start.prefixMatch(of: /(https?:)?[\/\\]{2,}[^\/\\?#\s]+[\/\\?#]/) != nil else { return nil }
    }

    /// A percent sign and the names of folders above are those of the text, not of the URL.
    private static func path(of value: String) -> String {
        let parts = value.split(separator: "/", omittingEmptySubsequences: false).filter { $0 != "." && $0 != ".." }
        return PercentCoding.encode(parts.joined(separator: "/").replacing("%", with: "%25"), keeping: .path)
    }

    func text(from object: JSONObject) throws(ItemError) -> String? {
        var text = literals[0]
        for (pointer, literal) in zip(pointers, literals.dropFirst()) {
            guard let token = try pointer.value(in: object), var value = SourceValue(token, in: object).plain,
                !value.allSatisfy(\.isWhitespace)
            else {
                return nil
            }
            if isURL {
                let isInPath = !text.contains { $0 == "?" || $0 == "#" }
                value = isInPath ? Self.path(of: value) : PercentCoding.encode(value)
                if isInPath, text.hasSuffix("/"), value.hasPrefix("/") { value.removeFirst() }
            } else if text == "/" || text == "\\" {
                // Two slashes would make the value a host.
                value = String(value.drop { $0 <= " " || $0 == "/" || $0 == "\\" })
            }
            text += value + literal
        }
        return text
    }
}

package struct SourceCondition: Sendable, Hashable {
    package enum Test: Sendable, Hashable {
        case anyOf([String])
        case noneOf([String])
        case present(Bool)
    }

    private let pointer: JSONPointer
    private let test: Test

    package init(_ pointer: JSONPointer, _ test: Test) {
        (self.pointer, self.test) = (pointer, test)
    }

    func hasMember(in object: JSONObject) throws(ItemError) -> Bool { try pointer.value(in: object) != nil }

    func isSatisfied(by object: JSONObject) throws(ItemError) -> Bool {
        let value = try pointer.value(in: object).map { SourceValue($0, in: object) } ?? .none
        let values = value.elements ?? [value]
        func isOne(of texts: [String]) -> Bool { values.contains { value in texts.contains { Self.isEqual($0, value) } } }
        return switch test {
        case .anyOf(let allowed): isOne(of: allowed)
        case .noneOf(let excluded): !isOne(of: excluded)
        case .present(let isPresent): value.isAbsent != isPresent
        }
    }

    private static func isEqual(_ text: String, _ value: SourceValue) -> Bool {
        if text == value.plain { return true }
        guard case .literal = value, let one = SourceForm.number().text(of: .text(text)), let other = SourceForm.number().text(of: value)
        else {
            return false
        }
        // Large whole numbers are no doubles.
        return Int64(one) == nil || Int64(other) == nil ? Double(one) == Double(other) : one == other
    }
}
