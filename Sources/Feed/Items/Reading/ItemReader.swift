/// Reads items from a JSON array or from NDJSON, whichever the bytes turn out to be, as they arrive.
///
/// Pure: bytes go in by ``append(_:)`` and ``end()``, items and faults come out by ``next()``. It holds one piece of the file and at most
/// one item of up to ``itemLimit`` bytes, however large the file, and goes on behind a bad item with the next good one.
public struct ItemReader: Sendable {
    /// Bytes of one item in the file. A longer one is a bad item, whose bytes are let go as they come.
    public static let itemLimit = 1 << 20

    public enum Outcome: Sendable, Hashable {
        case item(ValidItem)
        case bad(BadItem)
        /// All that has arrived is read: append more, or say that it was the end.
        case needsBytes
        case finished
    }

    enum State: Sendable, Equatable {
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

    let kinds: ItemKinds
    var buffer: [UInt8] = []
    /// The first byte of the buffer that is not read yet.
    var position = 0
    var isAtEnd = false
    /// The line that is read.
    public internal(set) var line = 1
    var state = State.start
    private var isFirstByte = true

    public init(kinds: ItemKinds) {
        self.kinds = kinds
    }

    public mutating func append(_ bytes: some Collection<UInt8>) {
        buffer.removeSubrange(0..<position)
        position = 0
        buffer.append(contentsOf: bytes)
    }

    /// No more bytes will come.
    public mutating func end() {
        isAtEnd = true
    }

    public mutating func next() -> Outcome {
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
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? .finished : .needsBytes }
        if buffer[position] == UInt8(ascii: "[") {
            position += 1
            state = .arrayItem(isFirst: true)
        } else {
            state = .lines(skipping: false)
        }
        return nil
    }

    /// Moves to the next byte that is not whitespace, counting lines.
    mutating func skipWhitespace() {
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
    mutating func consume(to end: Int) {
        line += lines(from: position, to: end)
        position = end
    }

    func lines(from start: Int, to end: Int) -> Int {
        var count = 0
        for byte in buffer[start..<end] where byte == 0x0A { count += 1 }
        return count
    }

    /// A fault of the item that begins at ``position``; one of syntax has the line on which reading stopped.
    func bad(_ fault: ItemFault) -> Outcome {
        let stop = min(max(fault.offset ?? position, position), buffer.count)
        return .bad(BadItem(line: line + lines(from: position, to: stop), fault: fault))
    }

    var tooLong: ItemFault { ItemFault(reason: "is longer than \(Self.itemLimit) bytes") }
}
