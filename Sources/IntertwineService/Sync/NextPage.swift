internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives

enum NextPage: Sendable, Hashable {
    case none
    /// `Link: <…>; rel="next"` (RFC 8288).
    case link
    case url(JSONPointer)
    case cursor(JSONPointer, parameter: String)
    case page(parameter: String, first: Int, last: JSONPointer?, pages: JSONPointer?)
    case offset(parameter: String, first: Int, total: JSONPointer?)

    struct Progress: Sendable {
        var pages: Int
        var elements: Int
        var isEnd: Bool
    }

    var isCounted: Bool {
        switch self {
        case .page, .offset: true
        case .none, .link, .url, .cursor: false
        }
    }

    var pointer: JSONPointer? {
        switch self {
        case .none, .link: nil
        case .url(let pointer), .cursor(let pointer, _): pointer
        case .page(_, _, let last, let pages): last ?? pages
        case .offset(_, _, let total): total
        }
    }

    func following(_ head: FetchHead, cursor: String?, first: FetchURL, after read: Progress) throws(FetchError) -> FetchURL? {
        let known = cursor.flatMap { Int($0) } ?? .max
        switch self {
        case .page(let parameter, let start, let last, _):
            let next = start + read.pages
            guard !read.isEnd, last == nil ? read.pages < known : next <= known else { return nil }
            return try FetchURL(Self.setting(parameter, to: String(next), in: first.text))
        case .offset(let parameter, let start, _):
            guard !read.isEnd, read.elements < known else { return nil }
            return try FetchURL(Self.setting(parameter, to: String(start + read.elements), in: first.text))
        case .none: return nil
        case .link:
            guard let reference = HTTPField.Name("Link").flatMap({ head.headers[$0] }).flatMap({ LinkField.next(in: $0) }) else {
                return nil
            }
            return try head.url.resolving(reference)
        case .url:
            guard let cursor else { return nil }
            return try head.url.resolving(cursor)
        case .cursor(_, let parameter):
            guard let cursor else { return nil }
            return try FetchURL(Self.setting(parameter, to: cursor, in: first.text))
        }
    }

    static func setting(_ parameter: String, to value: String, in url: String) -> String {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let name = PercentCoding.encode(parameter)
        var pairs = (parts.count > 1 ? parts[1] : "").split(separator: "&").map(String.init)
        pairs.removeAll { $0 == name || $0.hasPrefix(name + "=") }
        pairs.append("\(name)=\(PercentCoding.encode(value))")
        return "\(parts.first ?? "")?\(pairs.joined(separator: "&"))"
    }
}

/// A parser of the `Link` header field (RFC 8288 §3).
enum LinkField {
    static func next(in field: String) -> String? {
        var rest = Substring(field)
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
            guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return nil }
            let target = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            var relation: String?
            var hasAnchor = false
            while let (name, value) = parameter(&rest) {
                // Only the first of several `rel` parameters counts (§3.3).
                if name == "rel", relation == nil { relation = value }
                if name == "anchor" { hasAnchor = true }
            }
            let relations = relation?.lowercased().split(separator: " ") ?? []
            if relations.contains("next"), !hasAnchor { return String(target) }
        }
    }

    private static func parameter(_ rest: inout Substring) -> (name: String, value: String)? {
        var text = rest.drop { $0 == " " || $0 == "\t" }
        guard text.first == ";" else { return nil }
        text = text.dropFirst().drop { $0 == " " || $0 == "\t" }
        let name = text.prefix { !"=;, \t".contains($0) }
        text = text.dropFirst(name.count).drop { $0 == " " || $0 == "\t" }
        var value = ""
        if text.first == "=" {
            text = text.dropFirst().drop { $0 == " " || $0 == "\t" }
            if let mark = text.first, mark == "\"" || mark == "'" {
                // Some servers write apostrophes.
                value = quoted(&text, by: mark)
            } else {
                value = String(text.prefix { !";, \t".contains($0) })
                text = text.dropFirst(value.count)
            }
        }
        rest = text
        return (name.lowercased(), value)
    }

    /// Removes a quoted string (RFC 9110 §5.6.4) from the text and returns it.
    private static func quoted(_ text: inout Substring, by mark: Character) -> String {
        var value = ""
        var isEscaped = false
        text = text.dropFirst()
        while let character = text.popFirst() {
            if isEscaped {
                value.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == mark {
                return value
            } else {
                value.append(character)
            }
        }
        return value
    }
}
