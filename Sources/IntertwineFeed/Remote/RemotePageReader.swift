/// Reads the items of one page of a JSON API as its bytes arrive.
///
/// Pure: bytes go in by ``append(_:)`` and ``end()``, items come out by ``next()``. It holds one piece of the page and at most one item or
/// one other token of up to ``ItemReader/itemLimit`` bytes, however large the page. What stands around the items is read as strictly as
/// they are, so that a page that was cut off is always noticed.
package struct RemotePageReader: Sendable {
    package enum Outcome: Sendable, Hashable {
        case item(ValidatedItem)
        /// An element of the list that is no item of its kind.
        case bad(ItemError)
        /// All that has arrived is read: append more, or say that it was the end.
        case needsBytes
        case finished
    }

    private enum State: Sendable {
        /// Where a value must begin.
        case value
        /// Where an object's member must begin, or its end may be.
        case member(isFirst: Bool)
        /// Right behind the bracket of an array that is not the list.
        case arrayStart
        /// Behind a value.
        case afterValue
        /// Where an element of the list must begin, or the list's end may be.
        case element(isFirst: Bool)
        case afterElement
        case finished
    }

    private let kind: any ItemKind
    private let fields: FieldMapping?
    private var buffer: [UInt8] = []
    /// The first byte of the buffer that is not read yet.
    private var position = 0
    /// Bytes of the page before the buffer.
    private var consumed = 0
    private var isAtEnd = false
    private var state = State.value
    /// The containers around the value that is read, without the list.
    private var containers: [Container] = []
    private var items: PathMatch
    private var cursorPath: PathMatch?
    private var foundItems = false

    /// Elements of the list that were met so far, good and bad.
    package private(set) var count = 0
    /// The value that tells where the next page begins: a string or a number; nil where it is missing, null, false or empty.
    package private(set) var cursor: String?

    /// - Parameters:
    ///   - fields: where an item's fields come from; nil for the members of the same names.
    ///   - items: where the list stands.
    ///   - cursor: where the page tells what the next one is; nil for nowhere.
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

    /// No more bytes will come.
    package mutating func end() {
        isAtEnd = true
    }

    /// - Throws: ``RemotePageError`` where the page is no JSON text, or its list is not where it should be. The page is then to be given up.
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

    /// The next byte that is not whitespace; nil where it has not arrived yet.
    private mutating func peek() throws(RemotePageError) -> UInt8? {
        var scanner = JSONScanner(at: position)
        scanner.skipWhitespace(buffer.span)
        position = scanner.position
        if position < buffer.count { return buffer[position] }
        guard !isAtEnd else { throw pageError(JSONError(.endOfText, at: position)) }
        return nil
    }

    /// Reads one token or value by `body`, or nil where it has not arrived in full; nothing is read then.
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
        // What follows may belong to it still, as in 1 and 12.
        if scanner.position == buffer.count, !isAtEnd { return try waiting() }
        position = scanner.position
        return value
    }

    /// Tried again with every piece of the page: few, as a token is at most a few pieces long.
    private func waiting<Value>() throws(RemotePageError) -> Value? {
        guard buffer.count - position <= ItemReader.itemLimit else {
            throw pageError("a value is longer than \(ItemReader.itemLimit) bytes")
        }
        return nil
    }
}

// MARK: What stands around the list of items

extension RemotePageReader {
    /// An object or an array that the reader is inside of.
    private enum Container: Sendable {
        case object
        case array(index: Int)
    }

    private mutating func nextValue() throws(RemotePageError) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if byte == UInt8(ascii: "<"), containers.isEmpty {
            throw pageError("this is an HTML page, not JSON: the address may want a login, or be wrong; look at it in a browser")
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

    /// Behind a value of a container: another one, or the container's end.
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

    /// Behind the document.
    private mutating func nextEnd() throws(RemotePageError) -> Outcome? {
        var scanner = JSONScanner(at: position)
        scanner.skipWhitespace(buffer.span)
        position = scanner.position
        guard position == buffer.count else { throw pageError(JSONError(.trailingBytes, at: position)) }
        guard isAtEnd else { return .needsBytes }
        guard foundItems else { throw pageError("there is no \(Self.name(items.pointer))", isOfLocation: true) }
        state = .finished
        return nil
    }

    private static func name(_ pointer: JSONPointer) -> String {
        pointer.isRoot ? "the document" : "\(pointer)"
    }
}

// MARK: The list of items itself

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

    /// An element that is no object: read to its end, as the next one may be one.
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
            return .item(try kind.validate(fields?.fields(from: object) ?? ItemFields(object)))
        } catch {
            return .bad(fields?.located(error) ?? error)
        }
    }
}

/// Follows a pointer while a document is read: tells which value is the one that it points to.
private struct PathMatch: Sendable {
    let pointer: JSONPointer
    /// How many tokens of the pointer the way to the value that is read agrees with, from the beginning.
    private var agreed = 0

    init(_ pointer: JSONPointer) {
        self.pointer = pointer
    }

    /// The value that is read next lies under this key, in a container of that depth; the document itself has depth 0.
    mutating func step(to key: String, depth: Int) {
        guard agreed >= depth else { return }
        agreed = depth < pointer.tokens.count && pointer.tokens[depth] == key ? depth + 1 : depth
    }

    /// Whether the value at this depth is the one.
    func isHit(depth: Int) -> Bool {
        pointer.tokens.count == depth && agreed == depth
    }
}

/// Why the bytes of a page are not a document with a list of items in it.
public struct RemotePageError: Error, Sendable, Hashable, CustomStringConvertible {
    public var reason: String
    /// How many bytes into the page.
    public var offset: Int
    /// Whether the document is one, and the list is not where it should be.
    public var isOfLocation = false

    public var description: String { "byte \(offset): \(reason)" }
}
