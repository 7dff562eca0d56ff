package import HTTPTypes
internal import IntertwinePrimitives

package struct FetchHead: Sendable {
    package let status: Int
    package let headers: HTTPFields
    package let url: FetchURL
    package var redirects: [FetchHead] = []

    package init(status: Int, headers: HTTPFields, url: FetchURL, redirects: [FetchHead] = []) {
        self.status = status
        self.headers = headers
        self.url = url
        self.redirects = redirects
    }

    /// The declared length in bytes.
    package var contentLength: Int? {
        guard let field = headers[.contentLength] else { return nil }
        let lengths = field.split(separator: ",", omittingEmptySubsequences: false).map { text -> Int? in
            let digits = text.trimmingPrefix { $0 == " " || $0 == "\t" }
            return digits.utf8.allSatisfy { (48...57).contains($0) } ? Int(digits) : nil
        }
        guard let first = lengths.first, lengths.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    package var isWhole: Bool {
        switch status {
        case 200, 201, 202, 203, 226: return true
        case 206:
            let numbers = contentRange.split { $0 == " " || $0 == "-" || $0 == "/" }.dropFirst().map { Int($0) }
            guard contentRange.hasPrefix("bytes "), numbers.count == 3, let last = numbers[1], let total = numbers[2] else { return false }
            return numbers[0] == 0 && last < .max && last + 1 == total
        default: return false
        }
    }

    /// True for a page of an API too. Some APIs answer 206 with the range of the rows in a page, although no range was requested.
    package var isWholePage: Bool { isWhole || status == 206 && !contentRange.hasPrefix("bytes") }

    private var contentRange: String { HTTPField.Name("Content-Range").flatMap { headers[$0] }?.lowercased() ?? "" }

    package var isLatin: Bool {
        let charset = headers[.contentType]?.lowercased().firstMatch(of: /charset\s*=\s*["']?([^\s"';,]+)/)
        return charset.map { Windows1252.labels.contains(String($0.1)) } ?? false
    }

    /// True if the type is one of JSON texts, each on a line.
    package var areLines: Bool {
        let type = headers[.contentType]?.lowercased().prefix { $0 != ";" && $0 != " " }
        return type?.wholeMatch(of: /application\/(?:x-|vnd\.)?(?:ndjson|jsonl|jsonlines|json-lines|json-seq|geo\+json-seq|nd-json)/) != nil
    }

    var location: String? {
        let locations = headers[values: .location]
        return Set(locations.map { try? url.resolving($0) }).count > 1 ? nil : locations.first
    }

    /// Contradictory lengths are an unrecoverable error unless a transfer coding overrides them (RFC 9112 section 6.3).
    var hasSoundLength: Bool {
        headers[.contentLength] == nil || headers[.transferEncoding] != nil || contentLength != nil
    }
}

struct ResponseHeadParser {
    enum Step {
        case more
        case complete(status: Int, headers: HTTPFields)
        case failed(FetchError)
    }

    private(set) var isComplete = false
    private var status = 0
    private var headers = HTTPFields()
    /// The last field line, to which lines that begin with white space belong (RFC 9112 section 5.2).
    private var field: [UInt8] = []
    private var bytes = 0
    private var lines = 0

    mutating func beginMessage() {
        isComplete = false
        status = 0
        headers = HTTPFields()
        field = []
    }

    mutating func consume(_ line: UnsafeRawBufferPointer, limits: FetchLimits) -> Step {
        // Interim responses, redirects and trailers count as well, because an endless number of them costs as much as one endless head.
        bytes += line.count
        lines += 1
        guard bytes <= limits.headBytes, lines <= limits.headLines else { return .failed(.headTooLarge) }
        if isComplete { return .more }
        var rest = line[...]
        while let last = rest.last, last == 0x0a || last == 0x0d { rest = rest.dropLast() }
        if let first = rest.first, first == 0x20 || first == 0x09, !field.isEmpty {
            field.append(0x20)
            field.append(contentsOf: rest.trimmed)
            return .more
        }
        appendField()
        if rest.isEmpty { return endOfHead() }
        if status == 0 { return statusLine(rest) }
        guard rest.contains(UInt8(ascii: ":")) else { return .failed(.protocolError) }
        field = Array(rest)
        return .more
    }

    private mutating func appendField() {
        defer { field = [] }
        field.withUnsafeBytes { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self)),
                let value = Self.text(line[(colon + 1)...].trimmed, of: name)
            else { return }
            headers.append(HTTPField(name: name, value: value))
        }
    }

    /// Decodes a field value, which may have any encoding (RFC 9110 section 5.5). Values that must be sent back unchanged cannot be
    /// repaired: a reference is written in ASCII with equal bytes, and a validator that would never match is dropped.
    private static func text(_ value: Slice<UnsafeRawBufferPointer>, of name: HTTPField.Name) -> String? {
        if let text = String(validating: value, as: UTF8.self) { return text }
        switch name {
        case .eTag, .lastModified: return nil
        case .location: return PercentCoding.encode(value, keeping: .ascii)
        default: return String(decoding: value, as: UTF8.self)
        }
    }

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
