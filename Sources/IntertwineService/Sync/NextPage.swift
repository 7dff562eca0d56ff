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
    /// A value of the last item, such as its id.
    case after(JSONPointer, parameter: String)
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
        case .none, .link, .url, .cursor, .after: false
        }
    }

    var pointer: JSONPointer? {
        switch self {
        case .none, .link, .after: nil
        case .url(let pointer), .cursor(let pointer, _): pointer
        case .page(_, _, let last, let pages): last ?? pages
        case .offset(_, _, let total): total
        }
    }

    /// The values that APIs write in place of a next page, also as texts.
    private static let ends: Set<String> = ["", "0", "0.0", "-1", "null", "none", "undefined", "false"]

    /// nil if the list does not tell its end. Many APIs state 0 or -1 if they have not counted, so a number below what was read tells nothing.
    func count(_ text: String?, after read: Progress) -> Int? {
        guard let count = text.flatMap({ Double($0) }).flatMap({ Int(exactly: $0) }) else { return nil }
        let least =
            switch self {
            case .page(_, let first, let last, _): last == nil ? read.pages : min(first, 1) + read.pages - 1
            case .offset: read.elements
            case .none, .link, .url, .cursor, .after: 0
            }
        return count < least ? nil : count
    }

    func following(_ head: FetchHead, cursor: String?, first: FetchURL, after read: Progress) throws(FetchError) -> FetchURL? {
        let known = count(cursor, after: read) ?? .max
        if case .after(_, let parameter) = self {
            guard let cursor else { return nil }
            return try FetchURL(Self.setting(parameter, to: cursor, in: first.text))
        }
        let cursor = cursor.flatMap { Self.ends.contains($0.filter { $0 != " " }.lowercased()) ? nil : $0 }
        switch self {
        case .page(let parameter, let start, let last, _):
            let number = Self.number(parameter, in: first.text, or: start)
            let next = number + read.pages
            guard !read.isEnd, last == nil ? next - min(start, number) < known : next <= known else { return nil }
            return try FetchURL(Self.setting(parameter, to: String(next), in: first.text))
        case .offset(let parameter, let start, _):
            let number = Self.number(parameter, in: first.text, or: start)
            let next = number + read.elements
            guard !read.isEnd, next - min(start, number) < known else { return nil }
            return try FetchURL(Self.setting(parameter, to: String(next), in: first.text))
        case .none, .after: return nil
        case .link:
            guard let reference = HTTPField.Name("Link").flatMap({ head.headers[$0] }).flatMap({ LinkField.next(in: $0) }) else {
                return nil
            }
            return try head.url.resolving(reference)
        case .url:
            guard let cursor else { return nil }
            // A URI template (RFC 6570), as HAL permits: without values, its expressions of a query are empty.
            return try head.url.resolving(cursor.replacing(/\{[?&][^{}]*\}/, with: ""))
        case .cursor(_, let parameter):
            guard let cursor else { return nil }
            return try FetchURL(Self.setting(parameter, to: cursor, in: first.text))
        }
    }

    static func setting(_ parameter: String, to value: String, in url: String) -> String {
        let name = decoded(parameter[...])
        var pairs = Self.pairs(of: url).filter { decoded($0.prefix { $0 != "=" }) != name }.map(String.init)
        pairs.append("\(PercentCoding.encode(name))=\(PercentCoding.encode(value))")
        return "\(url.prefix { $0 != "?" })?\(pairs.joined(separator: "&"))"
    }

    private static func number(_ parameter: String, in url: String, or usual: Int) -> Int {
        let pair = pairs(of: url).last { decoded($0.prefix { $0 != "=" }) == decoded(parameter[...]) }
        guard let number = pair.flatMap({ Int(decoded($0.drop { $0 != "=" }.dropFirst())) }), (0...1 << 40).contains(number) else {
            return usual
        }
        return number
    }

    private static func pairs(of url: String) -> [Substring] { url.drop { $0 != "?" }.dropFirst().split(separator: "&") }

    private static func decoded(_ text: Substring) -> String {
        let text = text.replacing("+", with: " ")
        return PercentCoding.decode(text) ?? String(text)
    }
}

/// A parser of the `Link` header field (RFC 8288 §3). As in browsers, what is no link or no parameter is left out.
enum LinkField {
    /// Nil without a next link, and for one without a target, which some APIs write on the last page.
    static func next(in field: String) -> String? {
        var rest = Substring(field)
        while true {
            rest = rest.drop { $0 != "<" }
            guard let end = rest.firstIndex(of: ">") else { return nil }
            let target = rest[..<end].dropFirst()
            rest = rest[rest.index(after: end)...]
            var relation: String?
            var (hasAnchor, hasResults) = (false, true)
            while let (name, value) = parameter(&rest) {
                // Only the first of several `rel` parameters counts (§3.3).
                if name == "rel", relation == nil { relation = value }
                if name == "anchor" { hasAnchor = true }
                // Some APIs name a next page always, and say here that it is empty.
                if name == "results", value == "false" { hasResults = false }
            }
            let relations = relation?.lowercased().split(separator: " ") ?? []
            if relations.contains("next"), !hasAnchor { return hasResults && target.contains { $0 != " " } ? String(target) : nil }
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
        rest = text.drop { $0 != ";" && $0 != "," }
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
