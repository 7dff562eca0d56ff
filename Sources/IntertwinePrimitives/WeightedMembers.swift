/// The members of a field in which a client says what it takes, such as `Accept` or `Accept-Encoding`, each with its weight (RFC 9110, 12.4.2).
///
/// Allocates nothing: such fields are read for every request.
public enum WeightedMembers {
    /// Reads members in their order, until `body` answers false. Empty ones are left out, and commas and semicolons in quotes are none.
    ///
    /// - Parameters:
    ///   - limit: members beyond so many are not looked at.
    ///   - body: is given where the member's name lies, without blanks and parameters, and the weight in thousandths: 1,000 where none is said,
    ///     nil where what stands there is none. Of more digits than there may be, the first three count, and a weight that is not zero is 1 at least.
    public static func read(_ field: Span<UInt8>, limit: Int = 32, _ body: (_ name: Range<Int>, _ weight: Int?) -> Bool) {
        var (start, seen) = (0, 0)
        while start < field.count, seen < limit {
            seen += 1
            let end = end(of: UInt8(ascii: ","), field, start, field.count)
            let semicolon = Self.end(of: UInt8(ascii: ";"), field, start, end)
            let name = trimmed(field, start, semicolon)
            if !name.isEmpty, !body(name, weight(field, semicolon, end)) { return }
            start = end + 1
        }
    }

    /// Whether a name is this one, which is in lower case, without regard to the case of letters.
    public static func isEqual(_ field: Span<UInt8>, _ range: Range<Int>, _ name: StaticString) -> Bool {
        guard range.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { name in
            for place in 0..<name.count {
                let byte = field[range.lowerBound + place]
                guard ((65...90).contains(byte) ? byte | 0x20 : byte) == name[place] else { return false }
            }
            return true
        }
    }

    /// Of the first `q` among the parameters, which begin with a semicolon each.
    private static func weight(_ field: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        var place = start
        while place < end {
            let next = Self.end(of: UInt8(ascii: ";"), field, place + 1, end)
            let parameter = trimmed(field, place + 1, next)
            if parameter.count >= 2, field[parameter.lowerBound] | 0x20 == UInt8(ascii: "q"),
                field[parameter.lowerBound + 1] == UInt8(ascii: "=")
            {
                return thousandths(field, parameter.lowerBound + 2, parameter.upperBound)
            }
            place = next
        }
        return 1_000
    }

    /// A number from 0 to 1; nil for anything else.
    private static func thousandths(_ field: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        guard start < end, field[start] == UInt8(ascii: "0") || field[start] == UInt8(ascii: "1") else { return nil }
        var value = field[start] == UInt8(ascii: "1") ? 1_000 : 0
        guard start + 1 < end else { return value }
        guard field[start + 1] == UInt8(ascii: ".") else { return nil }
        var unit = 100
        for place in (start + 2)..<max(start + 2, end) {
            let digit = field[place]
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value += Int(digit - UInt8(ascii: "0")) * unit
            if unit == 0, digit != UInt8(ascii: "0") { value = max(value, 1) }
            unit /= 10
        }
        return value <= 1_000 ? value : nil
    }

    /// Where the separator stands, outside of quotes; the end where there is none.
    private static func end(of separator: UInt8, _ field: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
        var isQuoted = false
        var place = start
        while place < end {
            let byte = field[place]
            if byte == separator, !isQuoted { return place }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            place += 1
        }
        return end
    }

    private static func trimmed(_ field: Span<UInt8>, _ start: Int, _ end: Int) -> Range<Int> {
        var (first, last) = (start, end)
        while first < last, isBlank(field[first]) { first += 1 }
        while last > first, isBlank(field[last - 1]) { last -= 1 }
        return first..<last
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
