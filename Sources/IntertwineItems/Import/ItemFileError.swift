internal import IntertwineJSON

/// The reason why a file is not a list of items, with a remedy. No item of the file is imported, regardless of the policy for invalid items.
public enum ItemFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file is compressed by the named program.
    case compressed(String)
    /// The file is an HTML page.
    case html
    /// The file is XML.
    case xml
    /// The file is a table with separators between the values, such as commas.
    case csv
    /// The file is UTF-16. JSON is UTF-8 (RFC 8259 §8.1).
    case utf16
    /// The file is UTF-32. JSON is UTF-8 (RFC 8259 §8.1).
    case utf32
    /// The file is not text.
    case binary
    /// The file is one JSON object that contains a list at the path of member names.
    case wrapped(members: [String])
    /// The file is a JSON object that spans several lines.
    case spread
    /// The file begins as gzip, and its later data is corrupt.
    case brokenGzip(String)
    /// The decompressed file exceeds the limit, in bytes.
    case tooLong(limit: Int)

    /// The reason with its remedy, as one line.
    public var description: String {
        switch self {
        case .compressed("gzip"):
            "the file is compressed twice with gzip: decompress it once, as in `gzip -dc FILE | intertwine import -`"
        case .compressed(let program):
            "the file is compressed with \(program), which is not supported: decompress it first, as in "
                + "`\(program == "zip" ? "unzip -p" : "\(program) -dc") FILE | intertwine import -` (gzip is supported)"
        case .html:
            "this is an HTML page, not a list of items: open it in a browser; a wrong URL, or one that requires a login, often returns "
                + "with one"
        case .xml: "this is XML, not JSON: convert it to a JSON array, or to lines with a JSON object each"
        case .csv:
            "this is a table (CSV), not JSON: convert it to a JSON array, or to lines with a JSON object each, that have kind and the "
                + "fields which `intertwine schema KIND` prints"
        case .utf16: "the file is UTF-16, and JSON is UTF-8: convert it, as in `iconv -f UTF-16 -t UTF-8 FILE`"
        case .utf32: "the file is UTF-32, and JSON is UTF-8: convert it, as in `iconv -f UTF-32 -t UTF-8 FILE`"
        case .binary: "the file is binary, not JSON: a list of items is a JSON array, or lines with a JSON object each"
        case .wrapped(let members):
            "the items are inside an object, in its member \"\(ItemError.shown(members.joined(separator: ".")))\", and the file must be "
                + "the list itself: extract it, as in "
                + "`jq '.\(members.map { "[\"\(ItemError.shown($0))\"]" }.joined())' FILE`"
        case .spread:
            "a JSON object continues after its line: write each object on one line, as in `jq -c . FILE`, or put them into one array"
        case .brokenGzip(let reason): "the file is not valid gzip: \(reason)"
        case .tooLong(let limit): "the file has more than \(limit) bytes, decompressed"
        }
    }
}

extension ItemFileError {
    /// The maximum number of bytes that ``opening(_:isAtEnd:)`` inspects.
    private static let openingLength = 4_096

    /// The file format detected from the first bytes of a file.
    enum Opening: Hashable {
        case items
        case needsBytes
        case error(ItemFileError)
    }

    /// Detects the format of a file from its first bytes.
    ///
    /// - Parameter bytes: the bytes from the start of the file, after a UTF-8 byte order mark.
    static func opening(_ bytes: ArraySlice<UInt8>, isAtEnd: Bool) -> Opening {
        guard bytes.count >= 6 || isAtEnd else { return .needsBytes }
        let magic: [([UInt8], ItemFileError)] = [
            ([0x1F, 0x8B], .compressed("gzip")), ([0x28, 0xB5, 0x2F, 0xFD], .compressed("zstd")),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .compressed("xz")), (Array("BZh".utf8), .compressed("bzip2")),
            ([0x50, 0x4B, 0x03, 0x04], .compressed("zip")), ([0xFF, 0xFE], .utf16), ([0xFE, 0xFF], .utf16),
        ]
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return .error(.utf32) }
        if let (_, fault) = magic.first(where: { bytes.starts(with: $0.0) }) { return .error(fault) }
        // The first character of JSON is ASCII, so one of its two bytes in UTF-16 is zero.
        if bytes.count > 1, bytes.prefix(2).count(where: { $0 == 0 }) == 1 { return .error(.utf16) }
        guard let start = bytes.firstIndex(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return isAtEnd ? .items : .needsBytes }
        switch bytes[start] {
        case UInt8(ascii: "["), UInt8(ascii: "{"): return .items
        default: break
        }
        if bytes[start...].starts(with: "%PDF".utf8)
            || bytes[start...].prefix(64).contains(where: { $0 < 0x09 || (0x0E..<0x20).contains($0) })
        {
            return .error(.binary)
        }
        let line = bytes[start...].prefix { $0 != 0x0A }
        guard line.endIndex < bytes.endIndex || isAtEnd || line.count >= openingLength else { return .needsBytes }
        let text = String(decoding: line.prefix(openingLength), as: UTF8.self).lowercased()
        if text.hasPrefix("<") {
            let isPage = text.hasPrefix("<!doctype html") || text.hasPrefix("<html") || text.hasPrefix("<head") || text.hasPrefix("<body")
            return .error(isPage ? .html : .xml)
        }
        // An invalid line of NDJSON may contain commas too; a CSV header contains no braces.
        let isTable = text.contains { ",;\t".contains($0) } && !text.contains { "{}[]".contains($0) }
        return isTable && text.first.map { $0.isLetter || $0.isNumber || $0 == "\"" || $0 == "_" } == true ? .error(.csv) : .items
    }

    /// The detected structure of an object that is not a line of NDJSON.
    enum Shape: Hashable {
        case error(ItemFileError)
        case needsBytes
        case unknown
    }

    /// Returns the structure of the object that begins at `offset`. The object is not an item, or it does not end on its line.
    static func shape(of bytes: [UInt8], at offset: Int) -> Shape {
        let span = bytes.span
        var scanner = JSONScanner(at: offset + 1)
        var isItem = false
        // A nested list may also be part of an item, so the following members decide.
        var list: [String]?
        do throws(JSONError) {
            while true {
                scanner.skipWhitespace(span)
                let name = try scanner.name(span)
                scanner.skipWhitespace(span)
                guard scanner.position < span.count else { return .needsBytes }
                let text = String(decoding: bytes[name.range], as: UTF8.self)
                if text == "kind" { isItem = true }
                if !isItem, list == nil, let members = try Self.list(of: bytes, at: scanner.position) {
                    list = [text] + members
                    if members.isEmpty { return .error(.wrapped(members: [text])) }
                }
                _ = try scanner.value(span)
                scanner.skipWhitespace(span)
                guard scanner.position < span.count else { return .needsBytes }
                if span[scanner.position] == UInt8(ascii: "}") { break }
                guard span[scanner.position] == UInt8(ascii: ",") else { return .unknown }
                scanner.position += 1
            }
        } catch {
            guard error.reason == .endOfText else { return .unknown }
            return list.map { .error(.wrapped(members: $0)) } ?? .needsBytes
        }
        if !isItem, let list { return .error(.wrapped(members: list)) }
        return bytes[offset..<scanner.position].contains(0x0A) ? .error(.spread) : .unknown
    }

    /// Returns the path of member names from a value to a list of objects.
    ///
    /// The path is empty if the value is the list itself, and nil if the value contains no such list. Only the first member of each
    /// nested object is inspected.
    private static func list(of bytes: [UInt8], at offset: Int, depth: Int = 0) throws(JSONError) -> [String]? {
        let span = bytes.span
        var scanner = JSONScanner(at: offset + 1)
        scanner.skipWhitespace(span)
        guard scanner.position < span.count else { throw JSONError(.endOfText, at: scanner.position) }
        switch span[offset] {
        case UInt8(ascii: "["): return span[scanner.position] == UInt8(ascii: "{") ? [] : nil
        case UInt8(ascii: "{") where depth < 3 && span[scanner.position] == UInt8(ascii: "\""):
            let name = try scanner.name(span)
            scanner.skipWhitespace(span)
            guard scanner.position < span.count else { throw JSONError(.endOfText, at: scanner.position) }
            return try list(of: bytes, at: scanner.position, depth: depth + 1).map {
                [String(decoding: bytes[name.range], as: UTF8.self)] + $0
            }
        default: return nil
        }
    }
}
