/// The members of a negotiation field such as `Accept` or `Accept-Encoding`, each with its weight (RFC 9110, 12.4.2).
/// Reading allocates no memory, because these fields are read for every request.
extension Span<UInt8> {
    package func forEachWeightedMember(limit: Int = 32, _ body: (_ name: Span<UInt8>, _ weight: Int?) -> Bool) {
        var (start, seen) = (0, 0)
        while start < count, seen < limit {
            seen += 1
            let end = end(of: UInt8(ascii: ","), start, count)
            let semicolon = self.end(of: UInt8(ascii: ";"), start, end)
            let name = trimmed(start, semicolon)
            if !name.isEmpty, !body(extracting(name), weight(semicolon, end)) { return }
            start = end + 1
        }
    }

    private func weight(_ start: Int, _ end: Int) -> Int? {
        var offset = start
        while offset < end {
            let next = self.end(of: UInt8(ascii: ";"), offset + 1, end)
            let parameter = trimmed(offset + 1, next)
            if parameter.count >= 2, self[parameter.lowerBound] | 0x20 == UInt8(ascii: "q"),
                self[parameter.lowerBound + 1] == UInt8(ascii: "=")
            {
                return thousandths(parameter.lowerBound + 2, parameter.upperBound)
            }
            offset = next
        }
        return 1_000
    }

    private func thousandths(_ start: Int, _ end: Int) -> Int? {
        guard start < end, self[start] == UInt8(ascii: "0") || self[start] == UInt8(ascii: "1") else { return nil }
        var value = self[start] == UInt8(ascii: "1") ? 1_000 : 0
        guard start + 1 < end else { return value }
        guard self[start + 1] == UInt8(ascii: ".") else { return nil }
        var unit = 100
        for offset in (start + 2)..<max(start + 2, end) {
            let digit = self[offset]
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value += Int(digit - UInt8(ascii: "0")) * unit
            if unit == 0, digit != UInt8(ascii: "0") { value = max(value, 1) }
            unit /= 10
        }
        return value <= 1_000 ? value : nil
    }

    private func end(of separator: UInt8, _ start: Int, _ end: Int) -> Int {
        var isQuoted = false
        var offset = start
        while offset < end {
            let byte = self[offset]
            if byte == separator, !isQuoted { return offset }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            offset += 1
        }
        return end
    }

    private func trimmed(_ start: Int, _ end: Int) -> Range<Int> {
        var (first, last) = (start, end)
        while first < last, Self.isBlank(self[first]) { first += 1 }
        while last > first, Self.isBlank(self[last - 1]) { last -= 1 }
        return first..<last
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
