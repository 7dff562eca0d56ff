internal import IntertwinePrimitives

/// Collects an answer's head from the lines that curl hands over one by one.
struct AnswerHead {
    enum Step {
        case more
        case complete(status: Int, headers: FetchHeaders)
        case failed(FetchFailure)
    }

    private(set) var isComplete = false
    private var status = 0
    private var headers = FetchHeaders()
    private var bytes = 0
    private var lines = 0

    mutating func beginMessage() {
        isComplete = false
        status = 0
        headers = FetchHeaders()
    }

    mutating func take(_ line: UnsafeRawBufferPointer, limits: FetchLimits) -> Step {
        // Interim answers, redirects and trailers count too: endless ones are as bad as one endless head.
        bytes += line.count
        lines += 1
        guard bytes <= limits.headBytes, lines <= limits.headLines else { return .failed(.headTooLarge) }
        if isComplete { return .more }
        var rest = line[...]
        while let last = rest.last, last == 0x0a || last == 0x0d { rest = rest.dropLast() }
        if rest.isEmpty { return endOfHead() }
        if status == 0 { return statusLine(rest) }
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")), colon > rest.startIndex else { return .failed(.protocolError) }
        let name = String(decoding: rest[..<colon], as: UTF8.self)
        if let value = Self.text(rest[(colon + 1)...].trimmed, of: name.lowercased()) { headers.append(name, value) }
        return .more
    }

    /// Values may be in any encoding (RFC 9110 section 5.5), where a text has one. Bytes that have to come back as they were cannot be
    /// repaired: a reference is written as an ASCII one with the same bytes, and a validator that would never match is none.
    private static func text(_ value: Slice<UnsafeRawBufferPointer>, of name: String) -> String? {
        if let text = String(validating: value, as: UTF8.self) { return text }
        switch name {
        case "etag", "last-modified": return nil
        case "location": return PercentCoding.encode(value, keeping: .ascii)
        default: return String(decoding: value, as: UTF8.self)
        }
    }

    /// `HTTP/1.1 200 OK`, of which only the number matters.
    private mutating func statusLine(_ line: Slice<UnsafeRawBufferPointer>) -> Step {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, let number = Int(String(decoding: words[1], as: UTF8.self)), (100...599).contains(number) else {
            return .failed(.protocolError)
        }
        status = number
        return .more
    }

    private mutating func endOfHead() -> Step {
        if status < 200 {
            beginMessage()
            return .more
        }
        isComplete = true
        return .complete(status: status, headers: headers)
    }
}

extension Slice where Base == UnsafeRawBufferPointer {
    fileprivate var trimmed: Self {
        var rest = self
        while let byte = rest.first, byte == 0x20 || byte == 0x09 { rest = rest.dropFirst() }
        while let byte = rest.last, byte == 0x20 || byte == 0x09 { rest = rest.dropLast() }
        return rest
    }
}
