/// A strict parser of responses, which shares no code with the server.
enum ResponseParser {
    /// Nil where the response is not complete.
    ///
    /// - Parameter atEnd: no more bytes will come.
    static func parse(_ bytes: [UInt8], method: String, atEnd: Bool) throws -> (RawResponse, used: Int)? {
        guard let end = find([13, 10, 13, 10], in: bytes, from: 0) else { return nil }
        var lines = try split(Array(bytes[0..<end]))
        let (status, reason) = try statusLine(lines.removeFirst())
        var fields: [(name: String, value: String)] = []
        for line in lines {
            guard let colon = line.firstIndex(of: 58), colon > 0 else { throw RawClientError.malformed("field line without a name") }
            let name = line[0..<colon]
            guard name.allSatisfy({ isToken($0) }) else { throw RawClientError.malformed("field name \(text(name))") }
            let value = line[(colon + 1)...]
            guard value.allSatisfy({ $0 == 9 || ($0 >= 32 && $0 != 127) }) else {
                throw RawClientError.malformed("field value of \(text(name))")
            }
            fields.append((text(name), text(value).trimming()))
        }
        let start = end + 4
        func response(_ body: [UInt8], closes: Bool = false) -> RawResponse {
            RawResponse(status: status, reason: reason, fields: fields, body: body, endsWithConnection: closes)
        }
        let lengths = fields.filter { $0.name.lowercased() == "content-length" }.map(\.value)
        let codings = fields.filter { $0.name.lowercased() == "transfer-encoding" }.map(\.value)
        if lengths.count > 1 || codings.count > 1 || (!lengths.isEmpty && !codings.isEmpty) {
            throw RawClientError.malformed("framed twice: \(lengths) \(codings)")
        }
        if status < 200 || status == 204 || status == 304 || method == "HEAD" { return (response([]), start) }
        if let length = lengths.first {
            guard let count = Int(length), count >= 0, String(count) == length else { throw RawClientError.malformed("length \(length)") }
            guard bytes.count >= start + count else { return nil }
            return (response(Array(bytes[start..<(start + count)])), start + count)
        }
        if let coding = codings.first {
            guard coding == "chunked" else { throw RawClientError.malformed("coding \(coding)") }
            guard let (body, used) = try chunks(bytes, from: start) else { return nil }
            return (response(body), used)
        }
        return atEnd ? (response(Array(bytes[start...]), closes: true), bytes.count) : nil
    }

    private static func statusLine(_ line: [UInt8]) throws -> (Int, String) {
        let prefix = Array("HTTP/1.1 ".utf8)
        guard line.count >= 13, Array(line[0..<9]) == prefix, line[12] == 32, line[9..<12].allSatisfy({ (48...57).contains($0) }),
            let status = Int(text(line[9..<12])), status >= 100
        else { throw RawClientError.malformed("status line \(text(line[...]))") }
        return (status, text(line[13...]))
    }

    private static func chunks(_ bytes: [UInt8], from start: Int) throws -> ([UInt8], Int)? {
        var (index, body) = (start, [UInt8]())
        while true {
            guard let end = find([13, 10], in: bytes, from: index) else { return nil }
            guard let size = Int(text(bytes[index..<end]), radix: 16), size >= 0 else { throw RawClientError.malformed("chunk size") }
            index = end + 2
            guard bytes.count >= index + size + 2 else { return nil }
            body += bytes[index..<(index + size)]
            index += size
            guard bytes[index] == 13, bytes[index + 1] == 10 else { throw RawClientError.malformed("chunk end") }
            index += 2
            if size == 0 { return (body, index) }
        }
    }

    private static func split(_ head: [UInt8]) throws -> [[UInt8]] {
        var lines: [[UInt8]] = [[]]
        var index = 0
        while index < head.count {
            if head[index] == 13, index + 1 < head.count, head[index + 1] == 10 {
                lines.append([])
                index += 2
                continue
            }
            if head[index] == 13 || head[index] == 10 || head[index] == 0 { throw RawClientError.malformed("control byte in the head") }
            lines[lines.count - 1].append(head[index])
            index += 1
        }
        return lines
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= start + pattern.count else { return nil }
        return (start...(bytes.count - pattern.count)).first { index in
            pattern.indices.allSatisfy { bytes[index + $0] == pattern[$0] }
        }
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension String {
    func trimming() -> String {
        let blanks: Set<Character> = [" ", "\t"]
        return String(drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }.reversed())
    }
}
