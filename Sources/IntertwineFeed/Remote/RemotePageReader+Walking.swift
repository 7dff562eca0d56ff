/// What stands around the list of items.
extension RemotePageReader {
    /// An object or an array that the reader is inside of.
    enum Container: Sendable {
        case object
        case array(index: Int)
    }

    mutating func nextValue() throws(RemotePageFault) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if byte == UInt8(ascii: "<"), containers.isEmpty {
            throw fault("this is an HTML page, not JSON: the address may want a login, or be wrong; look at it in a browser")
        }
        let depth = containers.count
        if items.isHit(depth: depth) {
            guard byte == UInt8(ascii: "[") else { throw fault("\(Self.name(items.pointer)) is not an array", isOfPlace: true) }
            guard !foundItems else { throw fault("\(Self.name(items.pointer)) occurs twice") }
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
            guard try scan({ (scanner, bytes) throws(JSONFault) in try scanner.value(bytes) }) != nil else { return .needsBytes }
            state = .afterValue
        }
        return nil
    }

    private mutating func open(_ container: Container, _ next: State) throws(RemotePageFault) {
        guard containers.count < JSONScanner.depthLimit else { throw fault(JSONFault(.tooDeep, at: position)) }
        containers.append(container)
        position += 1
        state = next
    }

    private mutating func nextCursor(_ byte: UInt8, _ pointer: JSONPointer) throws(RemotePageFault) -> Outcome? {
        guard byte != UInt8(ascii: "{"), byte != UInt8(ascii: "[") else { throw fault("\(pointer) is neither a string nor a number") }
        guard let token = try scan({ (scanner, bytes) throws(JSONFault) in try scanner.value(bytes) }) else { return .needsBytes }
        state = .afterValue
        switch token.kind {
        case .string:
            let text = text(of: token)
            cursor = text.isEmpty ? nil : text
        case .number: cursor = String(decoding: buffer[token.range], as: UTF8.self)
        default:
            guard !buffer[token.range].elementsEqual("true".utf8) else { throw fault("\(pointer) is neither a string nor a number") }
            cursor = nil
        }
        return nil
    }

    mutating func nextMember(isFirst: Bool) throws(RemotePageFault) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if isFirst, byte == UInt8(ascii: "}") {
            close()
            return nil
        }
        guard let name = try scan({ (scanner, bytes) throws(JSONFault) in try scanner.name(bytes) }) else { return .needsBytes }
        enter(text(of: name))
        return nil
    }

    mutating func nextArrayStart() throws(RemotePageFault) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if byte == UInt8(ascii: "]") {
            close()
        } else {
            enter("0")
        }
        return nil
    }

    /// Behind a value of a container: another one, or the container's end.
    mutating func nextSeparator() throws(RemotePageFault) -> Outcome? {
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
        default: throw fault(JSONFault(.expectedCommaOrEnd, at: position))
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
    mutating func nextEnd() throws(RemotePageFault) -> Outcome? {
        var scanner = JSONScanner(at: position)
        scanner.skipWhitespace(buffer.span)
        position = scanner.position
        guard position == buffer.count else { throw fault(JSONFault(.trailingBytes, at: position)) }
        guard isAtEnd else { return .needsBytes }
        guard foundItems else { throw fault("there is no \(Self.name(items.pointer))", isOfPlace: true) }
        state = .finished
        return nil
    }

    static func name(_ pointer: JSONPointer) -> String {
        pointer.isWholeDocument ? "the document" : "\(pointer)"
    }
}
