/// The tags of a mustache template, looked through before the template is compiled.
///
/// Of mustache, templates of cells have variables, sections, inverted sections and comments. What reaches beyond the item, or changes how
/// the rest is read or escaped (partials, inheritance, delimiters, pragmas, lambdas), is refused; so is a name that the kind does not have,
/// which mustache itself would leave blank without a word.
enum TemplateTags {
    /// Sections inside each other.
    static let depthLimit = 16

    /// - Parameter known: what the kind's items have.
    /// - Returns: the names that the template reads.
    /// - Throws: ``KindFault`` with what is wrong.
    static func names(in template: String, known: Set<String>, listed: String) throws(KindFault) -> Set<String> {
        var names: Set<String> = []
        var open: [Substring] = []
        var rest = template[...]
        while let start = rest.firstRange(of: "{{") {
            rest = rest[start.upperBound...]
            let isTriple = rest.first == "{"
            guard let end = rest.firstRange(of: isTriple ? "}}}" : "}}") else { throw KindFault([], "a tag is not closed with }}") }
            let tag = rest[..<end.lowerBound]
            rest = rest[end.upperBound...]
            let sigil = tag.first ?? " "
            if sigil == "!" { continue }
            let name = Self.name(in: "#^/&{".contains(sigil) ? tag.dropFirst() : tag)
            guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == ".") }), !name.isEmpty
            else {
                throw KindFault([], "'{{\(ItemFault.shown(tag))}}' is not a field, a section (#, ^, /) or a comment (!)")
            }
            if sigil == "/" {
                guard open.popLast() == name else { throw KindFault([], "'{{/\(name)}}' ends no section that was begun") }
                continue
            }
            guard known.contains(String(name)) || (name == "." && !open.isEmpty) else {
                throw KindFault([], "unknown field '\(name)' in a template; known are \(listed)")
            }
            if name != "." { names.insert(String(name)) }
            if sigil == "#" || sigil == "^" {
                open.append(name)
                guard open.count <= depthLimit else { throw KindFault([], "sections are nested more than \(depthLimit) deep") }
            }
        }
        guard open.isEmpty else { throw KindFault([], "the section '{{#\(open[open.count - 1])}}' is not ended") }
        return names
    }

    private static func name(in tag: Substring) -> Substring {
        let blanks: Set<Character> = [" ", "\t"]
        let text = tag.drop { blanks.contains($0) }
        return text.prefix { !blanks.contains($0) }.endIndex == text.endIndex
            || text.drop { !blanks.contains($0) }.allSatisfy(blanks.contains)
            ? text.prefix { !blanks.contains($0) } : ""
    }
}
