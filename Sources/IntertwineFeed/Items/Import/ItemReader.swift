internal import IntertwinePrimitives

/// An incremental parser for items in a JSON array or in NDJSON. It detects the format from the bytes.
///
/// The parser performs no I/O: bytes are passed to ``append(_:)`` and ``end()``, and ``next()`` returns items and errors. Regardless of the
/// file size, it buffers one chunk of the file and at most one item of up to ``itemLimit`` bytes. After an invalid item, it continues with the
/// next valid item.
package struct ItemReader: Sendable {
    /// The maximum size of one item in the file, in bytes. A longer item is invalid, and its bytes are discarded as they arrive.
    package static let itemLimit = 1 << 20

    package enum Outcome: Sendable, Hashable {
        case item(ValidatedItem)
        case bad(InvalidItem)
        /// The file is not a list of items. No further outcome follows.
        case unreadable(ItemFileError)
        /// All appended bytes are consumed. The caller must append more bytes or call ``end()``.
        case needsBytes
        case finished
    }

    private enum State: Sendable, Equatable {
        /// Only whitespace was read.
        case start
        /// Between two lines of NDJSON, or inside an oversized line that is skipped.
        case lines(skipping: Bool)
        /// Before an item of an array. After the first item, the end of the array is not valid here.
        case arrayItem(isFirst: Bool)
        case arraySeparator
        /// Inside an invalid item of an array, whose end is searched for.
        case skipping(ItemSplitter)
        case afterArray
        case finished
    }

    private let kinds: ItemKinds
    private let leavesOut: Bool
    private var preamble = JSONPreamble()
    private var buffer: [UInt8] = []
    /// The index of the first unread byte of the buffer.
    private var position = 0
    /// The number of bytes of the file before the buffer.
    private var consumed = 0
    private var isAtEnd = false
    private var state = State.start
    /// The number of array elements so far, both valid and invalid.
    private var index: Int?

    /// The number of the current line.
    package private(set) var line = 1
    /// The number of bytes of the file before the current line.
    private var lineStart = 0
    /// The start of the item that was returned last.
    package private(set) var last = (line: 1, index: Int?.none, offset: 0)
    /// The invalid values of optional fields that the item that was returned last lacks.
    package private(set) var leftOut: [InvalidItem] = []

    /// - Parameter leavesOut: True if an invalid value of an optional field is left out; false if it is an error of its item.
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

    /// Marks the end of the file: no more bytes will be appended.
    package mutating func end() {
        buffer.append(contentsOf: preamble.utf8([], isComplete: true))
        isAtEnd = true
    }

    package mutating func next() -> Outcome {
        while true {
            let outcome: Outcome?
            switch state {
            case .start: outcome = decide()
            case .lines(let isSkipping): outcome = isSkipping ? skipLine() : nextLine()
            case .arrayItem(let isFirst): outcome = nextArrayItem(isFirst: isFirst)
            case .arraySeparator: outcome = nextSeparator()
            case .skipping(let splitter): outcome = skip(splitter)
            case .afterArray: outcome = finishArray()
            case .finished: outcome = .finished
            }
            if let outcome { return outcome }
        }
    }

    /// Detects the format, an array or lines, from the first byte after the preamble.
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
            state = .arrayItem(isFirst: true)
        case UInt8(ascii: "{"): state = .lines(skipping: false)
        default:
            state = .finished
            return .unreadable(.notAList(line: line, column: consumed + position - lineStart + 1))
        }
        return nil
    }

    // MARK: Lines

    /// Reads the next item of NDJSON, which has one item per line. Empty lines are ignored.
    private mutating func nextLine() -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else {
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        let end: Int
        if let newline = buffer[position...].firstIndex(of: 0x0A) {
            end = newline
        } else if buffer.count - position > Self.itemLimit {
            state = .lines(skipping: true)
            return bad(tooLong)
        } else if isAtEnd {
            end = buffer.count
        } else {
            return .needsBytes
        }
        defer { position = end }
        return item(onLineTo: end)
    }

    private mutating func item(onLineTo end: Int) -> Outcome {
        guard end - position <= Self.itemLimit else { return bad(tooLong) }
        do throws(JSONError) {
            let object = try JSONObject(buffer, at: position, isLenient: true)
            let rest = buffer[object.range.upperBound..<max(end, object.range.upperBound)].filter { ![0x20, 0x09, 0x0D].contains($0) }
            guard JSONPreamble.isEnd(rest) else {
                return bad(ItemError(JSONError(rest == [UInt8(ascii: ",")] ? .commaAfterLine : .trailingBytes, at: position)))
            }
            // An object that continues after the newline is not a line of NDJSON: the line is truncated at the newline.
            guard object.range.upperBound <= end else { return bad(ItemError(JSONError(.endOfText, at: position))) }
            return check(object)
        } catch {
            return bad(ItemError(JSONError(reason(ofLineTo: end), at: position)))
        }
    }

    /// Returns what is invalid in a line. The bytes after it, which may be missing yet, have no influence.
    private func reason(ofLineTo end: Int) -> JSONError.Reason {
        do throws(JSONError) {
            _ = try JSONObject(Array(buffer[position..<end]), at: 0, isLenient: true)
            return .endOfText
        } catch {
            return error.reason
        }
    }

    /// Skips the rest of an oversized line.
    private mutating func skipLine() -> Outcome? {
        guard let newline = buffer[position...].firstIndex(of: 0x0A) else {
            position = buffer.count
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        position = newline
        state = .lines(skipping: false)
        return nil
    }

    // MARK: Array

    /// Reads an item, or the end of the array if the end is valid here.
    private mutating func nextArrayItem(isFirst: Bool) -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? cutOff() : .needsBytes }
        if buffer[position] == UInt8(ascii: "]") {
            state = .afterArray
            defer { position += 1 }
            return isFirst ? nil : bad(ItemError(JSONError(.trailingComma, at: position)))
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
        state = .skipping(ItemSplitter())
        return bad(fault)
    }

    private mutating func countElement() {
        index = index.map { $0 + 1 }
    }

    private mutating func nextSeparator() -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? cutOff() : .needsBytes }
        switch buffer[position] {
        case UInt8(ascii: ","):
            position += 1
            state = .arrayItem(isFirst: false)
            return nil
        case UInt8(ascii: "]"):
            position += 1
            state = .afterArray
            return nil
        // The comma is missing, but the item after it may be present.
        case UInt8(ascii: "{"): state = .arrayItem(isFirst: false)
        default: state = .skipping(ItemSplitter())
        }
        return bad(ItemError(JSONError(.expectedCommaOrEnd, at: position)))
    }

    /// Skips an invalid item.
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

    private mutating func cutOff() -> Outcome {
        state = .finished
        return bad(ItemError(reason: "the array is not terminated: the file may be truncated"))
    }

    // MARK: Positions

    /// Validates an object as an item. The object begins at ``position``.
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

    /// Moves to the next byte that is not whitespace and counts lines.
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

    /// Moves to `end` and counts the lines in between.
    private mutating func consume(to end: Int) {
        line += lines(from: position, to: end)
        position = end
    }

    private func lines(from start: Int, to end: Int) -> Int {
        var count = 0
        for byte in buffer[start..<end] where byte == 0x0A { count += 1 }
        return count
    }

    /// Returns an error of the item that begins at ``position``. A syntax error has the line at which parsing stopped.
    private func bad(_ fault: ItemError, id: String? = nil) -> Outcome {
        let stop = min(max(fault.offset ?? position, position), buffer.count)
        return .bad(
            InvalidItem(line: line + lines(from: position, to: stop), index: index, id: id, offset: consumed + stop, error: fault))
    }

    private var tooLong: ItemError { ItemError(reason: "is longer than \(Self.itemLimit) bytes") }
}

/// An invalid item of a file, with the information that is needed to correct the file.
package struct InvalidItem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line of the start of the item, from 1. If the item is not valid JSON, it is the line at which parsing stopped.
    package var line: Int
    /// The number of preceding elements of an array. It is nil for NDJSON, where the line identifies the item.
    package var index: Int?
    /// The id of the item, if it has one.
    package var id: String?
    /// The byte offset of the position in ``line``, in the decompressed file.
    package var offset: Int
    /// The number of the file among the files of an import, from 0.
    package var file = 0
    /// The reason why the item, or the value of one of its fields, is invalid.
    package var error: ItemError
    /// True if the item is imported without the value.
    package var isKept = false

    /// Creates the report of an invalid item in the first file of an import.
    ///
    /// ```swift
    /// let error = ItemError(field: "title", reason: "is missing", code: .required)
    /// let text = InvalidItem(line: 2, error: error).description  // "line 2: title: is missing"
    /// ```
    package init(line: Int, index: Int? = nil, id: String? = nil, offset: Int = 0, error: ItemError) {
        self.line = line
        self.index = index
        self.id = id
        self.offset = offset
        self.error = error
    }

    /// The message: `line 2: …` for NDJSON. For an array, which may be a single line: `line 1, index 4998 (from 0), id "u4998", byte 812345: …`.
    package var description: String {
        guard let index else { return "line \(line): \(error)" }
        let id = id.map { ", id \"\(ItemError.shown($0))\"" } ?? ""
        return "line \(line), index \(index) (from 0)\(id), byte \(offset): \(error)"
    }
}
