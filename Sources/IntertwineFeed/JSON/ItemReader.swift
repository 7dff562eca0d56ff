/// Reads items from a JSON array or from NDJSON, whichever the bytes turn out to be, as they arrive.
///
/// Pure: bytes go in by ``append(_:)`` and ``end()``, items and faults come out by ``next()``. It holds one piece of the file and at most
/// one item of up to ``itemLimit`` bytes, however large the file, and goes on behind a bad item with the next good one.
package struct ItemReader: Sendable {
    /// Bytes of one item in the file. A longer one is a bad item, whose bytes are let go as they come.
    package static let itemLimit = 1 << 20

    package enum Outcome: Sendable, Hashable {
        case item(ValidatedItem)
        case bad(InvalidItem)
        /// The file is no list of items: nothing more comes out.
        case unreadable(ItemFileError)
        /// All that has arrived is read: append more, or say that it was the end.
        case needsBytes
        case finished
    }

    private enum State: Sendable, Equatable {
        /// Nothing but whitespace so far.
        case start
        /// Between two lines of NDJSON, or inside one that is too long and skipped to its end.
        case lines(skipping: Bool)
        /// In an array: where an item may begin, or where a comma or the end must follow.
        case arrayItem(isFirst: Bool)
        case arraySeparator
        /// Inside a bad item of an array, on the way to the next one.
        case resynchronising(ItemResynchroniser)
        case afterArray
        case finished
    }

    private let kinds: ItemKinds
    private var buffer: [UInt8] = []
    /// The first byte of the buffer that is not read yet.
    private var position = 0
    /// Bytes of the file before the buffer.
    private var consumed = 0
    private var isAtEnd = false
    private var state = State.start
    private var isFirstByte = true
    /// Whether what is read may be the whole of a file that is one object.
    private var isFirstLine = true
    /// Elements of the array that were met so far, good and bad.
    private var index: Int?

    /// The line that is read.
    package private(set) var line = 1
    /// Where the item began that came out last.
    package private(set) var last = (line: 1, index: Int?.none, offset: 0)

    package init(kinds: ItemKinds) {
        self.kinds = kinds
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

    package mutating func next() -> Outcome {
        while true {
            let outcome: Outcome?
            switch state {
            case .start: outcome = decide()
            case .lines(let isSkipping): outcome = isSkipping ? skipLine() : nextLine()
            case .arrayItem(let isFirst): outcome = nextArrayItem(isFirst: isFirst)
            case .arraySeparator: outcome = nextSeparator()
            case .resynchronising(let resynchroniser): outcome = resynchronise(resynchroniser)
            case .afterArray: outcome = finishArray()
            case .finished: outcome = .finished
            }
            if let outcome { return outcome }
        }
    }

    /// Array or lines: the first byte that is neither whitespace nor a byte order mark tells.
    private mutating func decide() -> Outcome? {
        if isFirstByte {
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            if buffer.count < mark.count, !isAtEnd, mark.starts(with: buffer) { return .needsBytes }
            if buffer.starts(with: mark) { position = mark.count }
            isFirstByte = false
        }
        switch ItemFileError.opening(buffer[position...], isAtEnd: isAtEnd) {
        case .items: break
        case .needsBytes:
            // A file may begin with any number of empty lines.
            skipWhitespace()
            return .needsBytes
        case .error(let fault): return unreadable(fault)
        }
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? .finished : .needsBytes }
        if buffer[position] == UInt8(ascii: "[") {
            position += 1
            index = 0
            state = .arrayItem(isFirst: true)
        } else {
            state = .lines(skipping: false)
        }
        return nil
    }

    private mutating func unreadable(_ fault: ItemFileError) -> Outcome {
        state = .finished
        return .unreadable(fault)
    }

    // MARK: Lines

    /// NDJSON: one item on each line; empty lines are nothing.
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
            if isFirstLine, case .error(let fault) = shape() { return unreadable(fault) }
            state = .lines(skipping: true)
            return bad(tooLong)
        } else if isAtEnd {
            end = buffer.count
        } else {
            return .needsBytes
        }
        let outcome = item(onLineTo: end)
        if isFirstLine, case .bad = outcome {
            switch shapeOfFile(firstLineTo: end) {
            case .error(let fault): return unreadable(fault)
            case .needsBytes: return .needsBytes
            case .unknown: break
            }
        }
        isFirstLine = false
        position = end
        return outcome
    }

    private mutating func item(onLineTo end: Int) -> Outcome {
        guard end - position <= Self.itemLimit else { return bad(tooLong) }
        do throws(JSONError) {
            let object = try JSONObject(buffer, at: position)
            let rest = buffer[object.range.upperBound..<max(end, object.range.upperBound)].filter { ![0x20, 0x09, 0x0D].contains($0) }
            guard rest.isEmpty else {
                return bad(ItemError(JSONError(rest == [UInt8(ascii: ",")] ? .commaAfterLine : .trailingBytes, at: position)))
            }
            // An object that goes on behind the newline is no line: the line is cut off there.
            guard object.range.upperBound <= end else { return bad(ItemError(JSONError(.endOfText, at: position))) }
            return check(object)
        } catch {
            return bad(ItemError(JSONError(error.offset > end ? .endOfText : error.reason, at: position)))
        }
    }

    /// Whether the first line is bad because the file is one object, and not a list.
    private func shapeOfFile(firstLineTo end: Int) -> ItemFileError.Shape {
        guard buffer[position] == UInt8(ascii: "{") else { return .unknown }
        if let object = try? JSONObject(buffer, at: position), object.range.upperBound <= end {
            // One bad line among others is no such file.
            let isAlone = buffer[end...].allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            guard isAlone else { return .unknown }
            guard isAtEnd else { return buffer.count - position > Self.itemLimit ? .unknown : .needsBytes }
        }
        let shape = shape()
        return shape == .needsBytes && (isAtEnd || buffer.count - position > Self.itemLimit) ? .unknown : shape
    }

    private func shape() -> ItemFileError.Shape {
        ItemFileError.shape(of: buffer, at: position)
    }

    /// What is left of a line that is too long.
    private mutating func skipLine() -> Outcome? {
        isFirstLine = false
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

    /// An item, or the end of the array where one may be.
    private mutating func nextArrayItem(isFirst: Bool) -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? cutOff() : .needsBytes }
        if buffer[position] == UInt8(ascii: "]") {
            state = .afterArray
            defer { position += 1 }
            return isFirst ? nil : bad(ItemError(JSONError(.trailingComma, at: position)))
        }
        do throws(JSONError) {
            let object = try JSONObject(buffer, at: position)
            let outcome = object.range.count > Self.itemLimit ? bad(tooLong) : check(object)
            consume(to: object.range.upperBound)
            state = .arraySeparator
            countElement()
            return outcome
        } catch {
            if error.reason == .endOfText, !isAtEnd {
                // Tried again with every piece of the file: few, as an item is at most a few pieces long.
                guard buffer.count - position > Self.itemLimit else { return .needsBytes }
                return resynchronising(after: tooLong)
            }
            return resynchronising(after: ItemError(error))
        }
    }

    private mutating func resynchronising(after fault: ItemError) -> Outcome {
        defer { countElement() }
        state = .resynchronising(ItemResynchroniser())
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
        case UInt8(ascii: "{"):
            // The comma is missing; the item behind it need not be.
            state = .arrayItem(isFirst: false)
        default: state = .resynchronising(ItemResynchroniser())
        }
        return bad(ItemError(JSONError(.expectedCommaOrEnd, at: position)))
    }

    private mutating func resynchronise(_ resynchroniser: ItemResynchroniser) -> Outcome? {
        var resynchroniser = resynchroniser
        while position < buffer.count {
            let byte = buffer[position]
            switch resynchroniser.receive(byte) {
            case .inside:
                if byte == 0x0A { line += 1 }
                position += 1
            case .afterItem:
                position += 1
                state = .arraySeparator
                return nil
            case .atSeparator:
                state = .arraySeparator
                return nil
            case .atItem:
                state = .arrayItem(isFirst: false)
                return nil
            }
        }
        guard isAtEnd else {
            state = .resynchronising(resynchroniser)
            return .needsBytes
        }
        // The bad item has been reported: that the array has no end either is part of it.
        state = .finished
        return nil
    }

    private mutating func finishArray() -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else {
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        // A broken item can end the array before its time: what looks like an item behind it is one.
        state = buffer[position] == UInt8(ascii: "{") ? .arrayItem(isFirst: false) : .resynchronising(ItemResynchroniser())
        return bad(ItemError(reason: "something follows the end of the array"))
    }

    private mutating func cutOff() -> Outcome {
        state = .finished
        return bad(ItemError(reason: "the array has no end: the file may have been cut off"))
    }

    // MARK: Places

    /// The item that an object is; it begins at ``position``.
    private mutating func check(_ object: JSONObject) -> Outcome {
        let fields = ItemFields(object)
        last = (line, index, consumed + position)
        do throws(ItemError) {
            return .item(try kinds.validate(fields))
        } catch {
            let id = try? fields.optionalIdentifier("id", limit: 512)
            return bad(error, id: id.map { String(decoding: $0, as: UTF8.self) })
        }
    }

    /// Moves to the next byte that is not whitespace, counting lines.
    private mutating func skipWhitespace() {
        while position < buffer.count {
            switch buffer[position] {
            case 0x0A: line += 1
            case 0x20, 0x0D, 0x09: break
            default: return
            }
            position += 1
        }
    }

    /// Moves to `end`, counting the lines in between.
    private mutating func consume(to end: Int) {
        line += lines(from: position, to: end)
        position = end
    }

    private func lines(from start: Int, to end: Int) -> Int {
        var count = 0
        for byte in buffer[start..<end] where byte == 0x0A { count += 1 }
        return count
    }

    /// A fault of the item that begins at ``position``; one of syntax has the line on which reading stopped.
    private func bad(_ fault: ItemError, id: String? = nil) -> Outcome {
        let stop = min(max(fault.offset ?? position, position), buffer.count)
        return .bad(
            InvalidItem(line: line + lines(from: position, to: stop), index: index, id: id, offset: consumed + stop, error: fault))
    }

    private var tooLong: ItemError { ItemError(reason: "is longer than \(Self.itemLimit) bytes") }
}

/// An item of a file that was not taken, for whoever has to mend the file.
public struct InvalidItem: Error, Sendable, Hashable, CustomStringConvertible {
    /// Counted from 1: where the item begins or, where it is not JSON at all, where reading it failed.
    public var line: Int
    /// In an array, how many elements stand before it; nil on a line of NDJSON, which the line tells.
    public var index: Int?
    /// The item's id, as far as it has one.
    public var id: String?
    /// Bytes of the file, decompressed, before the place that ``line`` is about.
    public var offset: Int
    /// The file's number among those of an import, from 0.
    public var file = 0
    public var error: ItemError

    public init(line: Int, index: Int? = nil, id: String? = nil, offset: Int = 0, error: ItemError) {
        self.line = line
        self.index = index
        self.id = id
        self.offset = offset
        self.error = error
    }

    /// `line 2: …` on a line of its own; in an array, which may be one line, `line 1, index 4998 (from 0), id "u4998", byte 812345: …`.
    public var description: String {
        guard let index else { return "line \(line): \(error)" }
        let id = id.map { ", id \"\(ItemError.shown($0))\"" } ?? ""
        return "line \(line), index \(index) (from 0)\(id), byte \(offset): \(error)"
    }
}
