/// Reads the items of one page of a JSON API as its bytes arrive.
///
/// Pure: bytes go in by ``append(_:)`` and ``end()``, items come out by ``next()``. It holds one piece of the page and at most one item or
/// one other token of up to ``ItemReader/itemLimit`` bytes, however large the page. What stands around the items is read as strictly as
/// they are, so that a page that was cut off is always noticed.
public struct RemotePageReader: Sendable {
    public enum Outcome: Sendable, Hashable {
        case item(ValidItem)
        /// An element of the list that is no item of its kind.
        case bad(ItemFault)
        /// All that has arrived is read: append more, or say that it was the end.
        case needsBytes
        case finished
    }

    enum State: Sendable {
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

    let kind: any ItemKind
    let fields: FieldMapping?
    var buffer: [UInt8] = []
    /// The first byte of the buffer that is not read yet.
    var position = 0
    /// Bytes of the page before the buffer.
    private var consumed = 0
    var isAtEnd = false
    var state = State.value
    /// The containers around the value that is read, without the list.
    var containers: [Container] = []
    var items: PathMatch
    var cursorPath: PathMatch?
    var foundItems = false

    /// Elements of the list that were met so far, good and bad.
    public internal(set) var count = 0
    /// The value that tells where the next page begins: a string or a number; nil where it is missing, null, false or empty.
    public internal(set) var cursor: String?

    /// - Parameters:
    ///   - fields: where an item's fields come from; nil for the members of the same names.
    ///   - items: where the list stands.
    ///   - cursor: where the page tells what the next one is; nil for nowhere.
    public init(kind: any ItemKind, fields: FieldMapping? = nil, items: JSONPointer, cursor: JSONPointer? = nil) {
        self.kind = kind
        self.fields = fields
        self.items = PathMatch(items)
        cursorPath = cursor.map(PathMatch.init)
    }

    public mutating func append(_ bytes: some Collection<UInt8>) {
        consumed += position
        buffer.removeSubrange(0..<position)
        position = 0
        buffer.append(contentsOf: bytes)
    }

    /// No more bytes will come.
    public mutating func end() {
        isAtEnd = true
    }

    /// - Throws: ``RemotePageFault`` where the page is no JSON text, or its list is not where it should be. The page is then to be given up.
    public mutating func next() throws(RemotePageFault) -> Outcome {
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

    func fault(_ reason: String, isOfPlace: Bool = false) -> RemotePageFault {
        RemotePageFault(reason: reason, offset: consumed + position, isOfPlace: isOfPlace)
    }

    func fault(_ fault: JSONFault) -> RemotePageFault {
        RemotePageFault(reason: fault.reason.rawValue, offset: consumed + fault.offset)
    }

    /// The next byte that is not whitespace; nil where it has not arrived yet.
    mutating func peek() throws(RemotePageFault) -> UInt8? {
        var scanner = JSONScanner(at: position)
        scanner.skipWhitespace(buffer.span)
        position = scanner.position
        if position < buffer.count { return buffer[position] }
        guard !isAtEnd else { throw fault(JSONFault(.endOfText, at: position)) }
        return nil
    }

    /// Reads one token or value by `body`, or nil where it has not arrived in full; nothing is read then.
    mutating func scan<Value>(
        _ body: (inout JSONScanner, Span<UInt8>) throws(JSONFault) -> Value
    ) throws(RemotePageFault) -> Value? {
        var scanner = JSONScanner(at: position)
        let value: Value
        do throws(JSONFault) {
            value = try body(&scanner, buffer.span)
        } catch {
            guard error.reason == .endOfText, !isAtEnd else { throw fault(error) }
            return try waiting()
        }
        // What follows may belong to it still, as in 1 and 12.
        if scanner.position == buffer.count, !isAtEnd { return try waiting() }
        position = scanner.position
        return value
    }

    /// Tried again with every piece of the page: few, as a token is at most a few pieces long.
    private func waiting<Value>() throws(RemotePageFault) -> Value? {
        guard buffer.count - position <= ItemReader.itemLimit else { throw fault("a value is longer than \(ItemReader.itemLimit) bytes") }
        return nil
    }
}
