internal import IntertwineJSON

/// An incremental parser of the items of one page of a JSON API.
///
/// It does no I/O: bytes are passed to ``append(_:)`` and ``end()``, and ``next()`` returns items. It buffers one chunk of the page and at
/// most one item or other token of up to ``ItemReader/itemLimit`` bytes, regardless of the page size. The JSON around the items is parsed as
/// strictly as the items, so that a truncated page is always detected.
package struct RemotePageReader: Sendable {
    package enum Outcome: Sendable, Hashable {
        case item(ValidatedItem)
        /// An element of the list that is not a valid item of its kind.
        case bad(ItemError)
        /// All received bytes are parsed; append more bytes or call ``end()``.
        case needsBytes
        case finished
    }

    private enum State: Sendable {
        /// At the start of a value.
        case value
        /// At the start of an object's member, or at the object's end.
        case member(isFirst: Bool)
        /// Directly after the bracket of an array that is not the list.
        case arrayStart
        /// After a value.
        case afterValue
        /// At the start of an element of the list, or at the list's end.
        case element(isFirst: Bool)
        case afterElement
        case finished
    }

    private let kind: any ItemKind
    private let fields: FieldMapping?
    private var buffer: [UInt8] = []
    /// The index of the first unread byte of the buffer.
    private var position = 0
    /// The number of bytes of the page before the buffer.
    private var consumed = 0
    private var isAtEnd = false
    private var state = State.value
    /// The containers around the current value, without the list.
    private var containers: [Container] = []
    private var items: PathMatch
    private var cursorPath: PathMatch?
    private var foundItems = false

    /// The number of list elements read so far, valid and invalid.
    package private(set) var count = 0
    /// The value that identifies the next page: a string or a number; nil if it is missing, null, false or empty.
    package private(set) var cursor: String?

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - fields: The mapping of an item's fields; nil for members with equal names.
    ///   - items: The location of the list.
    ///   - cursor: The location of the value that identifies the next page; nil if the page has none.
    package init(kind: any ItemKind, fields: FieldMapping? = nil, items: JSONPointer, cursor: JSONPointer? = nil) {
        self.kind = kind
        self.fields = fields
        self.items = PathMatch(items)
        cursorPath = cursor.map(PathMatch.init)
    }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        consumed += position
        buffer.removeSubrange(0..<position)
        position = 0
        buffer.append(contentsOf: bytes)
    }

    /// Marks the end of the page's bytes.
    package mutating func end() {
        isAtEnd = true
    }

    /// Returns the next outcome.
    ///
    /// - Throws: ``RemotePageError`` if the page is not a JSON text or its list is missing. Parsing cannot continue then.
    package mutating func next() throws(RemotePageError) -> Outcome {
        while true {
            let outcome: Outcome?
            switch state {
            case .value: outcome = try nextValue()
            case .member(let isFirst): outcome = try nextMember(isFirst: isFirst)
            case .arrayStart: outcome = try nextArrayStart()
            case .afterValue: outcome = containers.isEmpty ? try nextEnd() : try nextSeparator()
            case .element(let isFirst): outcome = try nextElement(isFirst: isFirst)
            case .afterElement: outcome = try nextElementSeparator()
            case .finished: outcome = .finished
            }
            if let outcome { return outcome }
        }
    }

    private func pageError(_ reason: String, isOfLocation: Bool = false) -> RemotePageError {
        RemotePageError(reason: reason, offset: consumed + position, isOfLocation: isOfLocation)
    }

    private func pageError(_ fault: JSONError) -> RemotePageError {
        RemotePageError(reason: fault.reason.rawValue, offset: consumed + fault.offset)
    }

    /// Returns the next byte that is not whitespace, or nil if it has not been received yet.
    private mutating func peek() throws(RemotePageError) -> UInt8? {
        var scanner = JSONScanner(at: position)
        scanner.skipWhitespace(buffer.span)
        position = scanner.position
        if position < buffer.count { return buffer[position] }
        guard !isAtEnd else { throw pageError(JSONError(.endOfText, at: position)) }
        return nil
    }

    /// Reads one token or value with `body`. Returns nil and reads nothing if it has not been received completely.
    private mutating func scan<Value>(
        _ body: (inout JSONScanner, Span<UInt8>) throws(JSONError) -> Value
    ) throws(RemotePageError) -> Value? {
        var scanner = JSONScanner(at: position)
        let value: Value
        do throws(JSONError) {
            value = try body(&scanner, buffer.span)
        } catch {
            guard error.reason == .endOfText, !isAtEnd else { throw pageError(error) }
            return try waiting()
        }
        // Following bytes may still belong to the value, as in 1 and 12.
        if scanner.position == buffer.count, !isAtEnd { return try waiting() }
        position = scanner.position
        return value
    }

    /// Returns nil to wait for more bytes, unless the limit is exceeded. Retries are few, as a token spans only a few chunks.
    private func waiting<Value>() throws(RemotePageError) -> Value? {
        guard buffer.count - position <= ItemReader.itemLimit else {
            throw pageError("a value is longer than \(ItemReader.itemLimit) bytes")
        }
        return nil
    }
}

// MARK: JSON around the list of items

extension RemotePageReader {
    /// An object or array that encloses the current value.
    private enum Container: Sendable {
        case object
        case array(index: Int)
    }

    private mutating func nextValue() throws(RemotePageError) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if byte == UInt8(ascii: "<"), containers.isEmpty {
            throw pageError("this is an HTML page, not JSON: the URL may be wrong or require a login; open it in a browser")
        }
        let depth = containers.count
        if items.isHit(depth: depth) {
            guard byte == UInt8(ascii: "[") else { throw pageError("\(Self.name(items.pointer)) is not an array", isOfLocation: true) }
            guard !foundItems else { throw pageError("\(Self.name(items.pointer)) occurs twice") }
            foundItems = true
            position += 1
            state = .element(isFirst: true)
            return nil
        }
        if let path = cursorPath, path.isHit(depth: depth) { return try nextCursor(byte, path.pointer) }
        switch byte {
        case UInt8(ascii: "{"): try open(.object, .member(isFirst: true))
        case UInt8(ascii: "["): try open(.array(index: 0), .arrayStart)
        default:
            guard try scan({ (scanner, bytes) throws(JSONError) in try scanner.value(bytes) }) != nil else { return .needsBytes }
            state = .afterValue
        }
        return nil
    }

    private mutating func open(_ container: Container, _ next: State) throws(RemotePageError) {
        guard containers.count < JSONScanner.depthLimit else { throw pageError(JSONError(.tooDeep, at: position)) }
        containers.append(container)
        position += 1
        state = next
    }

    private mutating func nextCursor(_ byte: UInt8, _ pointer: JSONPointer) throws(RemotePageError) -> Outcome? {
        guard byte != UInt8(ascii: "{"), byte != UInt8(ascii: "[") else { throw pageError("\(pointer) is neither a string nor a number") }
        guard let token = try scan({ (scanner, bytes) throws(JSONError) in try scanner.value(bytes) }) else { return .needsBytes }
        state = .afterValue
        switch token.kind {
        case .string:
            let text = text(of: token)
            cursor = text.isEmpty ? nil : text
        case .number: cursor = String(decoding: buffer[token.range], as: UTF8.self)
        default:
            guard !buffer[token.range].elementsEqual("true".utf8) else { throw pageError("\(pointer) is neither a string nor a number") }
            cursor = nil
        }
        return nil
    }

    private mutating func nextMember(isFirst: Bool) throws(RemotePageError) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if isFirst, byte == UInt8(ascii: "}") {
            close()
            return nil
        }
        guard let name = try scan({ (scanner, bytes) throws(JSONError) in try scanner.name(bytes) }) else { return .needsBytes }
        enter(text(of: name))
        return nil
    }

    private mutating func nextArrayStart() throws(RemotePageError) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if byte == UInt8(ascii: "]") {
            close()
        } else {
            enter("0")
        }
        return nil
    }

    /// Reads the separator after a value of a container, or the container's end.
    private mutating func nextSeparator() throws(RemotePageError) -> Outcome? {
        guard let byte = try peek(), let container = containers.last else { return .needsBytes }
        switch (container, byte) {
        case (.object, UInt8(ascii: ",")):
            position += 1
            state = .member(isFirst: false)
        case (.array(let index), UInt8(ascii: ",")):
            position += 1
            containers[containers.count - 1] = .array(index: index + 1)
            enter(String(index + 1))
        case (.object, UInt8(ascii: "}")), (.array, UInt8(ascii: "]")): close()
        default: throw pageError(JSONError(.expectedCommaOrEnd, at: position))
        }
        return nil
    }

    private mutating func enter(_ key: String) {
        let depth = containers.count - 1
        items.step(to: key, depth: depth)
        cursorPath?.step(to: key, depth: depth)
        state = .value
    }

    private func text(of token: JSONToken) -> String {
        guard token.isEscaped else { return String(decoding: buffer[token.range], as: UTF8.self) }
        return String(decoding: JSONText.unescaped(buffer.span, token.range), as: UTF8.self)
    }

    private mutating func close() {
        containers.removeLast()
        position += 1
        state = .afterValue
    }

    /// Reads the end of the document.
    private mutating func nextEnd() throws(RemotePageError) -> Outcome? {
        var scanner = JSONScanner(at: position)
        scanner.skipWhitespace(buffer.span)
        position = scanner.position
        guard position == buffer.count else { throw pageError(JSONError(.trailingBytes, at: position)) }
        guard isAtEnd else { return .needsBytes }
        guard foundItems else { throw pageError("\(Self.name(items.pointer)) is missing", isOfLocation: true) }
        state = .finished
        return nil
    }

    private static func name(_ pointer: JSONPointer) -> String {
        pointer.isRoot ? "the document" : "\(pointer)"
    }
}

// MARK: List of items

extension RemotePageReader {
    private mutating func nextElement(isFirst: Bool) throws(RemotePageError) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if isFirst, byte == UInt8(ascii: "]") {
            position += 1
            state = .afterValue
            return nil
        }
        guard byte == UInt8(ascii: "{") else { return try nextStrayElement() }
        let object: JSONObject
        do throws(JSONError) {
            object = try JSONObject(buffer, at: position)
        } catch {
            guard error.reason == .endOfText, !isAtEnd else { throw pageError(error) }
            guard buffer.count - position <= ItemReader.itemLimit else {
                throw pageError("an item is longer than \(ItemReader.itemLimit) bytes")
            }
            return .needsBytes
        }
        position = object.range.upperBound
        count += 1
        state = .afterElement
        return check(object)
    }

    /// Skips an element that is not an object, because the next one may be valid.
    private mutating func nextStrayElement() throws(RemotePageError) -> Outcome {
        guard let token = try scan({ (scanner, bytes) throws(JSONError) in try scanner.value(bytes) }) else { return .needsBytes }
        count += 1
        state = .afterElement
        return .bad(ItemError(reason: "must be an object, is \(token.kind.rawValue)"))
    }

    private mutating func nextElementSeparator() throws(RemotePageError) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        switch byte {
        case UInt8(ascii: ","): state = .element(isFirst: false)
        case UInt8(ascii: "]"): state = .afterValue
        default: throw pageError(JSONError(.expectedCommaOrEnd, at: position))
        }
        position += 1
        return nil
    }

    private func check(_ object: JSONObject) -> Outcome {
        do throws(ItemError) {
            let mapped = if let fields { try fields.fields(from: object) } else { ItemFields(object) }
            return .item(try kind.validate(mapped))
        } catch {
            return .bad(fields?.located(error) ?? error)
        }
    }
}

/// A matcher that detects the target value of a JSON pointer while a document is parsed.
private struct PathMatch: Sendable {
    let pointer: JSONPointer
    /// The number of leading pointer tokens that match the path of the current value.
    private var agreed = 0

    init(_ pointer: JSONPointer) {
        self.pointer = pointer
    }

    /// Enters the value under a key, in a container of the given depth; the document itself has depth 0.
    mutating func step(to key: String, depth: Int) {
        guard agreed >= depth else { return }
        agreed = depth < pointer.tokens.count && pointer.tokens[depth] == key ? depth + 1 : depth
    }

    /// Returns true if the value at this depth is the target of the pointer.
    func isHit(depth: Int) -> Bool {
        pointer.tokens.count == depth && agreed == depth
    }
}

/// An error in the bytes of a page: no valid document, or no list of items in it.
public struct RemotePageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason as a phrase, without the offset.
    public var reason: String
    /// The offset in the page, in bytes.
    public var offset: Int
    /// A Boolean value indicating whether the document is valid, but its list is not at the configured location.
    public var isOfLocation = false

    /// The offset and the reason, such as `byte 12: a value is expected`.
    public var description: String { "byte \(offset): \(reason)" }
}
