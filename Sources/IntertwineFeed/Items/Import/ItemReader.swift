internal import IntertwinePrimitives

package struct ItemReader: Sendable {
    /// The maximum size of one item in the file, in bytes.
    package static let itemLimit = 1 << 20

    package enum Outcome: Sendable, Hashable {
        case item(ValidatedItem)
        case bad(InvalidItem)
        case unreadable(ItemFileError)
        /// The caller must append more bytes or call ``end()``.
        case needsBytes
        case finished
    }

    private enum State: Sendable, Equatable {
        case start
        case lines(JSONLines, skipping: Bool)
        case arrayItem
        case arraySeparator
        case skipping(ItemSplitter)
        case afterArray
        case finished
    }

    private let kinds: ItemKinds
    private let leavesOut: Bool
    private var preamble = JSONPreamble()
    private var buffer: [UInt8] = []
    private var position = 0
    private var consumed = 0
    private var isAtEnd = false
    private var state = State.start
    private var index: Int?

    package private(set) var line = 1
    private var lineStart = 0
    private var lineEnd: UInt8 = 0x0A
    package private(set) var last = (line: 1, index: Int?.none, offset: 0)
    package private(set) var leftOut: [InvalidItem] = []

    package init(kinds: ItemKinds, leavesOut: Bool = false) {
        self.kinds = kinds
        self.leavesOut = leavesOut
    }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        consumed += position
        buffer.removeSubrange(0..<position)
        position = 0
        buffer.append(contentsOf: preamble.utf8(bytes, isComplete: false))
    }

    package mutating func end() {
        buffer.append(contentsOf: preamble.utf8([], isComplete: true))
        isAtEnd = true
    }

    package mutating func next() -> Outcome {
        while true {
            let outcome: Outcome?
            switch state {
            case .start: outcome = decide()
            case .lines(let lines, let isSkipping): outcome = isSkipping ? skipLine(of: lines) : nextLine(of: lines)
            case .arrayItem: outcome = nextArrayItem()
            case .arraySeparator: outcome = nextSeparator()
            case .skipping(let splitter): outcome = skip(splitter)
            case .afterArray: outcome = finishArray()
            case .finished: outcome = .finished
            }
            if let outcome { return outcome }
        }
    }

    private mutating func decide() -> Outcome? {
        guard let length = JSONPreamble.length(of: buffer[position...], isComplete: isAtEnd) else { return .needsBytes }
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { lineStart = 3 }
        let start = position + length
        for index in position..<start where buffer[index] == 0x0A { (line, lineStart) = (line + 1, consumed + index + 1) }
        position = start
        guard position < buffer.count else { return .finished }
        switch buffer[position] {
        case UInt8(ascii: "["):
            position += 1
            index = 0
            state = .arrayItem
        case UInt8(ascii: "{"), 0x1E:
            guard let isIndented else { return .needsBytes }
            guard !isIndented else {
                state = .arrayItem
                return nil
            }
            let isComplete = isAtEnd || buffer.count - position > Self.itemLimit
            guard let lines = JSONLines(buffer.span, from: position, isComplete: isComplete) else { return .needsBytes }
            if lines.separator == 0x0D { lineEnd = 0x0D }
            state = .lines(lines, skipping: false)
        default:
            state = .finished
            return .unreadable(.notAList(line: line, column: consumed + position - lineStart + 1))
        }
        return nil
    }

    /// True if an object begins with a line that is only its brace, as jq writes one object after another. NDJSON has no such lines. Nil if more
    /// bytes are needed.
    private var isIndented: Bool? {
        guard buffer[position] == UInt8(ascii: "{") else { return false }
        guard let next = buffer[(position + 1)...].firstIndex(where: { $0 > 0x20 }) else {
            return isAtEnd || buffer.count - position > Self.itemLimit ? false : nil
        }
        return buffer[next] == UInt8(ascii: "\"") && buffer[position..<next].contains(0x0A)
    }

    // MARK: Lines

    private mutating func nextLine(of lines: JSONLines) -> Outcome? {
        consume(to: buffer[position...].firstIndex { $0 > 0x20 } ?? buffer.count)
        guard position < buffer.count else {
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        let end: Int
        if let separator = buffer[position...].firstIndex(of: lines.separator) {
            end = separator
        } else if buffer.count - position > Self.itemLimit {
            state = .lines(lines, skipping: true)
            return bad(tooLong)
        } else if isAtEnd {
            end = buffer.count
        } else {
            return .needsBytes
        }
        defer { consume(to: end) }
        guard let text = JSONLines.text(of: buffer[position..<end]) else { return nil }
        consume(to: text.lowerBound)
        return item(onLineTo: text.upperBound)
    }

    private mutating func item(onLineTo end: Int) -> Outcome {
        guard end - position <= Self.itemLimit else { return bad(tooLong) }
        do throws(JSONError) {
            let object = try JSONObject(buffer, at: position, isLenient: true)
            guard JSONPreamble.isEnd(buffer[object.range.upperBound..<max(end, object.range.upperBound)]) else {
                return bad(ItemError(JSONError(.trailingBytes, at: position)))
            }
            // An object that continues after the newline is not a line of NDJSON: the line is truncated at the newline.
            guard object.range.upperBound <= end else { return bad(ItemError(JSONError(.endOfText, at: position))) }
            return check(object)
        } catch {
            return bad(ItemError(JSONError(reason(ofLineTo: end), at: position)))
        }
    }

    private func reason(ofLineTo end: Int) -> JSONError.Reason {
        do throws(JSONError) {
            _ = try JSONObject(Array(buffer[position..<end]), at: 0, isLenient: true)
            return .endOfText
        } catch {
            return error.reason
        }
    }

    private mutating func skipLine(of lines: JSONLines) -> Outcome? {
        guard let end = buffer[position...].firstIndex(of: lines.separator) else {
            consume(to: buffer.count)
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        consume(to: end)
        state = .lines(lines, skipping: false)
        return nil
    }

    // MARK: Array, or objects one after another, which have no index

    private mutating func nextArrayItem() -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? cutOff() : .needsBytes }
        if index != nil, buffer[position] == UInt8(ascii: "]") {
            position += 1
            state = .afterArray
            return nil
        }
        do throws(JSONError) {
            let object = try JSONObject(buffer, at: position, isLenient: true)
            let outcome = object.range.count > Self.itemLimit ? bad(tooLong) : check(object)
            consume(to: object.range.upperBound)
            state = .arraySeparator
            countElement()
            return outcome
        } catch {
            if error.reason == .endOfText, !isAtEnd {
                // Parsing restarts with every chunk. Restarts are few, because an item is at most a few chunks long.
                guard buffer.count - position > Self.itemLimit else { return .needsBytes }
                return skipping(after: tooLong)
            }
            return skipping(after: ItemError(error))
        }
    }

    private mutating func skipping(after fault: ItemError) -> Outcome {
        defer { countElement() }
        state = .skipping(splitter)
        return bad(fault)
    }

    private var splitter: ItemSplitter { index == nil ? ItemSplitter(until: 0) : ItemSplitter() }

    private mutating func countElement() {
        index = index.map { $0 + 1 }
    }

    private mutating func nextSeparator() -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? cutOff() : .needsBytes }
        switch buffer[position] {
        case UInt8(ascii: ","):
            position += 1
            state = .arrayItem
            return nil
        case UInt8(ascii: "]") where index != nil:
            position += 1
            state = .afterArray
            return nil
        // The comma is missing, but the item after it may be present.
        case UInt8(ascii: "{"):
            state = .arrayItem
            if index == nil { return nil }
        default: state = .skipping(splitter)
        }
        return bad(ItemError(JSONError(.expectedCommaOrEnd, at: position)))
    }

    private mutating func skip(_ splitter: ItemSplitter) -> Outcome? {
        var splitter = splitter
        guard let end = splitter.end(in: buffer.span, from: position) else {
            consume(to: buffer.count)
            // The invalid item has already been reported. The missing end of the array is part of that error.
            state = isAtEnd ? .finished : .skipping(splitter)
            return isAtEnd ? nil : .needsBytes
        }
        consume(to: end)
        state = .arraySeparator
        return nil
    }

    private mutating func finishArray() -> Outcome? {
        skipWhitespace()
        // The end of a call follows.
        while position < buffer.count, JSONPreamble.isEnd(CollectionOfOne(buffer[position])) {
            position += 1
            skipWhitespace()
        }
        guard position < buffer.count else {
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        state = .finished
        return bad(ItemError(reason: "something follows the end of the array"))
    }

    private mutating func cutOff() -> Outcome? {
        state = .finished
        return index == nil ? nil : bad(ItemError(reason: "the array is not terminated: the file may be truncated"))
    }

    // MARK: Positions

    private mutating func check(_ object: JSONObject) -> Outcome {
        last = (line, index, consumed + position)
        var errors: [ItemError] = []
        do throws(ItemError) {
            let item = try kinds.validate(ItemFields(object), leavingOut: leavesOut ? { errors.append($0) } : nil)
            leftOut = errors.map { InvalidItem(line: line, index: index, id: item.id, offset: consumed + position, error: $0) }
            for index in leftOut.indices { leftOut[index].isKept = true }
            return .item(item)
        } catch {
            let id = try? ItemFields(object).optionalIdentifier("id", limit: 512)
            return bad(error, id: id.map { String(decoding: $0, as: UTF8.self) })
        }
    }

    private mutating func skipWhitespace() {
        while position < buffer.count {
            switch buffer[position] {
            case 0x0A: (line, lineStart) = (line + 1, consumed + position + 1)
            case 0x20, 0x0D, 0x09: break
            default: return
            }
            position += 1
        }
    }

    private mutating func consume(to end: Int) {
        line += lines(from: position, to: end)
        position = end
    }

    private func lines(from start: Int, to end: Int) -> Int {
        var count = 0
        for byte in buffer[start..<end] where byte == lineEnd { count += 1 }
        return count
    }

    private func bad(_ fault: ItemError, id: String? = nil) -> Outcome {
        let stop = min(max(fault.offset ?? position, position), buffer.count)
        return .bad(
            InvalidItem(line: line + lines(from: position, to: stop), index: index, id: id, offset: consumed + stop, error: fault))
    }

    private var tooLong: ItemError { ItemError(reason: "is longer than \(Self.itemLimit) bytes") }
}

package struct InvalidItem: Error, Sendable, Hashable, CustomStringConvertible {
    package var line: Int
    package var index: Int?
    package var id: String?
    package var offset: Int
    package var file = 0
    package var error: ItemError
    package var isKept = false

    package init(line: Int, index: Int? = nil, id: String? = nil, offset: Int = 0, error: ItemError) {
        self.line = line
        self.index = index
        self.id = id
        self.offset = offset
        self.error = error
    }

    package var description: String {
        guard let index else { return "line \(line): \(error)" }
        let id = id.map { ", id \"\(ItemError.shown($0))\"" } ?? ""
        return "line \(line), index \(index) (from 0)\(id), byte \(offset): \(error)"
    }
}
