internal import IntertwinePrimitives

/// A page of a JSON API: a list of items, and the value that identifies the next page.
/// The list is found, and split into its items, by brackets and quotes alone. Values that are not mapped are therefore not decoded, and an
/// invalid item is one invalid item.
package struct RemotePage: Sendable {
    /// The maximum size of a page in bytes.
    package static let limit = 64 << 20

    private let bytes: [UInt8]
    private let url: String?
    /// Nil if a later page has no list, as many APIs answer beyond the last one.
    private let list: Range<Int>?
    /// True if each line is an item (NDJSON).
    package let isLines: Bool
    /// The field that has the name of an item's member, if the list may be an object.
    private let key: String?
    package let cursor: String?
    package var hasList: Bool { list != nil }

    package init(
        _ bytes: [UInt8], items: JSONPointer, key: String? = nil, cursor: JSONPointer? = nil, at url: String? = nil, isLatin: Bool = false,
        areLines: Bool = false, continuesLines: Bool = false, mayEnd: Bool = false
    ) throws(RemotePageError) {
        (self.url, self.key) = (url, key)
        let bytes = JSONPreamble.text(bytes, isLatin: isLatin)
        self.bytes = bytes
        isLines = items.isRoot && key == nil && Self.areLines(bytes, isDeclared: areLines, isContinued: continuesLines)
        if mayEnd && Self.isNothing(bytes[...]) || isLines {
            (list, self.cursor) = (isLines ? bytes.indices : nil, nil)
            return
        }
        let start = try Self.position(after: 0, in: bytes)
        guard [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(bytes[start]) else {
            throw RemotePageError(reason: "a JSON object or array is expected", offset: start)
        }
        var scanner = JSONScanner(at: try Self.end(of: start, in: bytes))
        scanner.skipWhitespace(bytes.span)
        guard JSONPreamble.isEnd(bytes[scanner.position...]) else { throw RemotePageError(JSONError(.trailingBytes, at: scanner.position)) }
        let name = items.isRoot ? "the document" : "\(items)"
        var place = try Self.find(items.tokens[...], items, in: bytes, at: start)
        if place == nil, mayEnd { place = try Self.end(ofNothingOn: items, in: bytes, at: start) }
        guard let list = place else {
            throw RemotePageError(reason: "\(name) is missing", offset: bytes.count, isOfLocation: true)
        }
        let value = list..<(list < bytes.count ? try Self.end(of: list, until: UInt8(ascii: "}"), in: bytes) : list)
        let isNumbered = try Self.isNumbered(at: list, in: bytes)
        let isArray = isNumbered || bytes[value].first == UInt8(ascii: "[") || key != nil && bytes[value].first == UInt8(ascii: "{")
        guard isArray || mayEnd && Self.isNothing(bytes[value]) else {
            throw RemotePageError(reason: "\(name) is not an array", offset: list, isOfLocation: true)
        }
        self.list = isArray ? value : nil
        self.cursor = try cursor.flatMap { (cursor) throws(RemotePageError) in
            try Self.find(cursor.tokens[...], cursor, in: bytes, at: start).flatMap { (index) throws(RemotePageError) in
                try Self.cursor(at: index, cursor, in: bytes)
            }
        }
    }

    /// Returns false if no element is valid, has an id, or is left out by a member that it has: an error with status 200 may be a list too.
    @discardableResult
    package func forEachItem(
        of kind: any ItemKind, _ fields: FieldMapping?, where conditions: [SourceCondition] = [],
        leavingOut report: ((ItemError) -> Void)? = nil,
        _ body: (Result<ValidatedItem, ItemError>?) throws -> Void
    ) throws -> Bool {
        if isLines {
            let lines = Self.lines(of: bytes)
            guard lines.contains(where: { isIdentified($0, "", kind, fields) }) || bytes.allSatisfy(Self.isSpace) else {
                throw RemotePageError(reason: "no line is an item", offset: lines.first?.lowerBound ?? 0)
            }
            guard lines.last.map(isWhole) ?? true else {
                throw RemotePageError(reason: "the last line ends too early", offset: bytes.count)
            }
        }
        var (isEmpty, hasItem) = (true, isLines)
        try forEachElement { range, name in
            let element = element(range, name, kind, fields, conditions, report)
            isEmpty = false
            if !hasItem {
                hasItem =
                    (try? element?.get()) != nil || isIdentified(range, name, kind, fields)
                    || element == nil && conditions.contains { (try? $0.hasMember(in: object(range, nil))) == true }
            }
            try body(element)
        }
        return isEmpty || hasItem
    }

    /// Calls the body with each item; with nil for one that is no object.
    package func forEachItem(_ body: (ItemFields?) throws -> Void) throws {
        try forEachElement { range, name in try body((try? object(range, name)).map { ItemFields($0) }) }
    }

    /// Returns a value of the last item; nil for a page without items.
    package func cursor(ofLastItemAt pointer: JSONPointer) throws -> String? {
        var last: Int?
        try forEachElement { range, _ in last = range.lowerBound }
        guard let last else { return nil }
        guard let place = try Self.find(pointer.tokens[...], pointer, in: bytes, at: last),
            let cursor = try Self.cursor(at: place, pointer, in: bytes)
        else { throw RemotePageError(reason: "the last item has no \(pointer)", offset: last) }
        return cursor
    }

    private func forEachElement(_ body: (Range<Int>, _ name: String) throws -> Void) throws {
        guard let list else { return }
        guard !isLines else { return try Self.lines(of: bytes).forEach { try body($0, "") } }
        let isObject = bytes[list.lowerBound] == UInt8(ascii: "{")
        let closing = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        var (position, index) = (list.lowerBound + 1, 0)
        while true {
            position = try Self.position(after: position, in: bytes)
            if bytes[position] == closing { return }
            var name = String(index)
            if isObject { (name, position) = try Self.name(at: position, in: bytes) }
            let end = try Self.end(of: position, until: closing, in: bytes)
            // An API that stores lists as objects writes whole numbers as an array, with null for each number that is missing. A list with
            // gaps has other members than items.
            let isOther = isObject && key == nil && Int(name) == nil
            if !isOther, key == nil || bytes[position..<end] != ArraySlice("null".utf8) { try body(position..<end, name) }
            index += 1
            position = try Self.position(after: end, in: bytes)
            switch bytes[position] {
            case UInt8(ascii: ","): position += 1
            case closing: return
            default: throw RemotePageError(JSONError(.expectedCommaOrEnd, at: position))
            }
        }
    }

    package var listDigest: [UInt8] {
        var hash = SHA256()
        hash.update(data: list.map { Array(bytes[$0]) } ?? [])
        return Array(hash.digest())
    }

    /// An error with status 200 has no id, and must not end the list. A kind may get the id from another field. The name of a member is an
    /// id only for an item that is valid otherwise, because an error may have a name too.
    private func isIdentified(_ range: Range<Int>, _ name: String, _ kind: any ItemKind, _ fields: FieldMapping?) -> Bool {
        func item(_ name: String?) throws -> ItemFields {
            let object = try object(range, name)
            var item = try fields?.fields(from: object) ?? ItemFields(object)
            item.base = url
            return item
        }
        return (try? item(nil).token("id")) != nil || (try? kind.validate(item(name), leavingOut: { _ in })) != nil
    }

    private func element(
        _ range: Range<Int>, _ name: String, _ kind: any ItemKind, _ fields: FieldMapping?, _ conditions: [SourceCondition],
        _ report: ((ItemError) -> Void)?
    ) -> Result<ValidatedItem, ItemError>? {
        var errors: [ItemError] = []
        do throws(ItemError) {
            let object = try object(range, name)
            guard object.range.count <= ItemReader.itemLimit else {
                throw ItemError(reason: "is longer than \(ItemReader.itemLimit) bytes")
            }
            for condition in conditions where try !condition.isSatisfied(by: object) { return nil }
            var mapped = if let fields { try fields.fields(from: object) } else { ItemFields(object) }
            mapped.base = url
            let item = try kind.validate(mapped, leavingOut: report == nil ? nil : { errors.append($0) })
            for error in errors { report?(fields?.located(error) ?? error) }
            return .success(item)
        } catch {
            return .failure(fields?.located(error) ?? error)
        }
    }

    private func object(_ range: Range<Int>, _ name: String?) throws(ItemError) -> JSONObject {
        let token: JSONToken
        do throws(JSONError) {
            if bytes[range.lowerBound] == UInt8(ascii: "{") {
                let object = try JSONObject(bytes, at: range.lowerBound, isLenient: true)
                guard object.range == range else { throw JSONError(.expectedCommaOrEnd, at: range.upperBound) }
                let isNamed = object.members.contains { object.matches($0.name, key ?? "") && !SourceValue($0.value, in: object).isAbsent }
                guard let key, let name, !isNamed else { return object }
                var named: [UInt8] = []
                named.append(jsonString: name.utf8)
                return try object.replacing(key, with: named)
            }
            var scanner = JSONScanner(at: range.lowerBound, isLenient: true)
            token = try scanner.value(bytes.span)
            // The row of a table, as spreadsheets have them: its columns are members with their numbers as names.
            if token.kind == .array, token.range == range, key == nil {
                let row = try JSONArray(Array(bytes[range]), isLenient: true)
                let members = row.elements.enumerated().filter { $0.element.kind != .invalid }.map {
                    Array("\"\($0)\":".utf8) + row.raw($1)
                }
                let object = [UInt8(ascii: "{")] + members.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
                return try JSONObject(object, isLenient: true)
            }
        } catch {
            throw ItemError(error)
        }
        throw ItemError(reason: "must be an object, is \(token.kind.rawValue)")
    }

    // MARK: Lines

    /// Unless the type declares lines, or the first page had them, the second line is an object too, and they are not one object together: an
    /// object alone may be an error with status 200.
    private static func areLines(_ bytes: [UInt8], isDeclared: Bool, isContinued: Bool) -> Bool {
        guard let start = bytes.firstIndex(where: { $0 > 0x20 }) else { return isDeclared }
        guard bytes[start] == UInt8(ascii: "{") else { return isDeclared && bytes[start] != UInt8(ascii: "[") }
        guard let lines = JSONLines(bytes.span) else { return false }
        if isDeclared || isContinued || lines.isSequence { return true }
        guard let lineEnd = bytes[start...].firstIndex(of: lines.separator), let second = JSONLines.text(of: bytes[lineEnd...]),
            bytes[second.lowerBound] == UInt8(ascii: "{")
        else { return false }
        return (try? end(of: start, in: bytes)).map { !JSONPreamble.isEnd(bytes[$0...]) } ?? true
    }

    /// The lines that are not empty.
    private static func lines(of bytes: [UInt8]) -> [Range<Int>] {
        JSONLines(bytes.span).map { bytes.split(separator: $0.separator).compactMap(JSONLines.text) } ?? []
    }

    /// False for a last line that has no end and is no JSON value: its producer did not finish the list.
    private func isWhole(_ last: Range<Int>) -> Bool {
        let hasEnd = bytes[last.upperBound...].contains { $0 == 0x0A || $0 == 0x0D }
        guard !hasEnd || JSONLines(bytes.span)?.isSequence ?? false else { return true }
        var scanner = JSONScanner(at: last.lowerBound, isLenient: true)
        guard let value = try? scanner.value(bytes.span) else { return false }
        return hasEnd || value.kind != .invalid && JSONPreamble.isEnd(bytes[scanner.position..<last.upperBound])
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    // MARK: JSON around the items

    private static func position(after index: Int, in bytes: [UInt8]) throws(RemotePageError) -> Int {
        var scanner = JSONScanner(at: index)
        scanner.skipWhitespace(bytes.span)
        guard scanner.position < bytes.count else { throw RemotePageError(JSONError(.endOfText, at: bytes.count)) }
        return scanner.position
    }

    private static func end(
        of start: Int, until closing: UInt8 = UInt8(ascii: "]"), in bytes: [UInt8]
    ) throws(RemotePageError) -> Int {
        var splitter = ItemSplitter(until: closing)
        guard let end = splitter.end(in: bytes.span, from: start) else { throw RemotePageError(JSONError(.endOfText, at: bytes.count)) }
        return end
    }

    /// Returns the end of the page if what there is of the path is nothing, such as `{"data":null}`. Another page without a list may be an
    /// error with status 200, which must not end the list.
    private static func end(ofNothingOn items: JSONPointer, in bytes: [UInt8], at start: Int) throws(RemotePageError) -> Int? {
        var tokens = items.tokens[...]
        while !tokens.isEmpty {
            tokens = tokens.dropLast()
            guard let place = try find(tokens, items, in: bytes, at: start) else { continue }
            return isNothing(bytes[place..<(try end(of: place, until: UInt8(ascii: "}"), in: bytes))]) ? bytes.count : nil
        }
        return nil
    }

    private static func find(
        _ tokens: ArraySlice<String>, _ pointer: JSONPointer, in bytes: [UInt8], at start: Int
    ) throws(RemotePageError) -> Int? {
        let start = try position(after: start, in: bytes)
        guard let token = tokens.first else { return start }
        let isObject = bytes[start] == UInt8(ascii: "{")
        guard isObject || bytes[start] == UInt8(ascii: "[") else { return nil }
        let closing = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
        var (found, index, place): (Int?, Int, Int) = (nil, 0, start + 1)
        while true {
            place = try position(after: place, in: bytes)
            if bytes[place] == closing { return found }
            var key = String(index)
            if isObject { (key, place) = try name(at: place, in: bytes) }
            if key == token, let hit = try find(tokens.dropFirst(), pointer, in: bytes, at: place) {
                guard found == nil else { throw RemotePageError(reason: "\(pointer) occurs twice", offset: hit) }
                found = hit
            }
            place = try position(after: end(of: place, until: closing, in: bytes), in: bytes)
            switch bytes[place] {
            case UInt8(ascii: ","): (place, index) = (place + 1, index + 1)
            case closing: break
            default: throw RemotePageError(JSONError(.expectedCommaOrEnd, at: place))
            }
        }
    }

    private static func name(at index: Int, in bytes: [UInt8]) throws(RemotePageError) -> (text: String, value: Int) {
        var scanner = JSONScanner(at: index, isLenient: true)
        let token: JSONToken
        do throws(JSONError) { token = try scanner.name(bytes.span) } catch { throw RemotePageError(error) }
        return (text(of: token, in: bytes), try position(after: scanner.position, in: bytes))
    }

    /// True for an object with an object under a whole number: PHP writes a list with gaps in this form, such as a filtered one.
    private static func isNumbered(at index: Int, in bytes: [UInt8]) throws(RemotePageError) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "{") else { return false }
        let first = try position(after: index + 1, in: bytes)
        guard bytes[first] == UInt8(ascii: "\"") else { return false }
        let (name, value) = try name(at: first, in: bytes)
        return Int(name) != nil && bytes[value] == UInt8(ascii: "{")
    }

    private static func cursor(at index: Int, _ pointer: JSONPointer, in bytes: [UInt8]) throws(RemotePageError) -> String? {
        let token: JSONToken
        var scanner = JSONScanner(at: index, isLenient: true)
        do throws(JSONError) {
            token = try scanner.value(bytes.span)
        } catch {
            throw RemotePageError(error)
        }
        switch token.kind {
        case .string:
            let text = text(of: token, in: bytes)
            return text.isEmpty ? nil : text
        case .number: return String(decoding: bytes[token.range], as: UTF8.self)
        default:
            guard isNothing(bytes[token.range]) else {
                throw RemotePageError(reason: "\(pointer) is neither a string nor a number", offset: index)
            }
            return nil
        }
    }

    private static func isNothing(_ value: ArraySlice<UInt8>) -> Bool {
        let nothing = ["", "null", "false", "\"\"", "0", "[]", "{}"]
        return value.count <= 64 && nothing.contains { $0.utf8.elementsEqual(value.filter { !isSpace($0) }) }
    }

    private static func text(of token: JSONToken, in bytes: [UInt8]) -> String {
        guard token.isEscaped else { return String(decoding: bytes[token.range], as: UTF8.self) }
        return String(decoding: JSONText.unescaped(bytes.span, token.range), as: UTF8.self)
    }
}

package struct RemotePageError: Error, Sendable, Hashable, CustomStringConvertible {
    package var reason: String
    /// The offset in the page, in bytes.
    package var offset: Int
    package var isOfLocation = false

    package var description: String { "byte \(offset): \(reason)" }

    init(reason: String, offset: Int, isOfLocation: Bool = false) {
        (self.reason, self.offset, self.isOfLocation) = (reason, offset, isOfLocation)
    }

    fileprivate init(_ error: JSONError) {
        self.init(reason: error.reason.rawValue, offset: error.offset)
    }
}
