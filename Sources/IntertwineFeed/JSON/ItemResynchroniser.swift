/// Finds the way from inside a broken item of an array to the next one, byte by byte.
///
/// It follows the structure, not the grammar. Where the structure itself is broken, three things tell that the item is over:
/// a string never contains a line break; inside an object `{` may follow a colon alone; and once bytes stand outside strings that JSON
/// does not have there (a quote is missing), what counts is a closing brace, a comma and an opening brace in a row.
struct ItemResynchroniser: Sendable, Equatable {
    enum Step {
        /// The byte belongs to the broken item.
        case inside
        /// The byte is the last of the broken item.
        case afterItem
        /// The byte follows the broken item: a comma, or the array's end.
        case atSeparator
        /// The byte begins another item.
        case atItem
    }

    private var depth = 0
    /// Bit 0 tells the innermost container: 1 for an object. Containers deeper than the word has bits count as arrays.
    private var nesting: UInt64 = 0
    private var isInString = false
    private var isEscaped = false
    /// Quotes are not to be trusted any more.
    private var isAdrift = false
    /// The last byte outside strings that was not whitespace.
    private var previous: UInt8 = 0
    /// The last two such bytes were a closing brace and a comma.
    private var isAfterClosedObject = false

    mutating func receive(_ byte: UInt8) -> Step {
        if isInString, !isAdrift { return receiveInString(byte) }
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: return .inside
        default: break
        }
        let last = previous
        previous = byte
        if isAdrift { return receiveAdrift(byte, after: last) }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"):
            if depth > 0, nesting & 1 == 1, last != UInt8(ascii: ":") { return .atItem }
            open(isObject: true)
        case UInt8(ascii: "["): open(isObject: false)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard depth > 0 else { return byte == UInt8(ascii: "]") ? .atSeparator : .afterItem }
            nesting >>= 1
            depth -= 1
            return depth == 0 ? .afterItem : .inside
        case UInt8(ascii: ","): return depth == 0 ? .atSeparator : .inside
        case UInt8(ascii: ":"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."): break
        case UInt8(ascii: "E"): break
        case let letter where "truefalsn".utf8.contains(letter): break
        default: isAdrift = depth > 0
        }
        return .inside
    }

    private mutating func receiveInString(_ byte: UInt8) -> Step {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") || byte == 0x0A {
            isInString = false
            previous = UInt8(ascii: "\"")
        }
        return .inside
    }

    private mutating func receiveAdrift(_ byte: UInt8, after last: UInt8) -> Step {
        if byte == UInt8(ascii: "{"), isAfterClosedObject { return .atItem }
        isAfterClosedObject = byte == UInt8(ascii: ",") && last == UInt8(ascii: "}")
        return .inside
    }

    private mutating func open(isObject: Bool) {
        nesting = nesting << 1 | (isObject ? 1 : 0)
        depth += 1
    }
}
