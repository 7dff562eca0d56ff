/// A byte-wise state machine that finds the end of an invalid item of an array, so that parsing can continue with the next item.
///
/// It follows the structure, not the grammar. If the structure itself is broken, three rules detect the end of the item. A string never
/// contains a line break. Inside an object, `{` may follow only a colon. If bytes outside strings are not valid there in JSON, a quote is
/// missing; from then on, only a closing brace, a comma and an opening brace in sequence end the item.
struct ItemResynchroniser: Sendable, Equatable {
    enum Step {
        /// The byte belongs to the invalid item.
        case inside
        /// The byte is the last byte of the invalid item.
        case afterItem
        /// The byte follows the invalid item: a comma, or the end of the array.
        case atSeparator
        /// The byte is the first byte of another item.
        case atItem
    }

    private var depth = 0
    /// A bit stack of containers. Bit 0 is the innermost container: 1 for an object. Containers deeper than the word size count as arrays.
    private var nesting: UInt64 = 0
    private var isInString = false
    private var isEscaped = false
    /// True if a quote is missing, so that quotes are ignored.
    private var isAdrift = false
    /// The last byte outside strings that is not whitespace.
    private var previous: UInt8 = 0
    /// True if the last two bytes outside strings, without whitespace, were a closing brace and a comma.
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
