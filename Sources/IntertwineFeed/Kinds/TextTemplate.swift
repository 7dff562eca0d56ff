internal import IntertwinePrimitives

/// A mustache template that combines the fields of an item, compiled once.
///
/// What a template comes to depends on which fields an item has, and which booleans hold; the values themselves are only put in. So
/// mustache runs when the service starts, once for every such case, and leaves a skeleton for each: literals and places for values.
/// Filling one costs what joining strings costs, and what a value holds is never read as a template.
///
/// Values are escaped for where the template stands and mustache's own escaping (for HTML) is off: a triple brace means the same as a
/// double one, and no spelling of a tag gets a value past its escaping.
struct TextTemplate: Sendable {
    enum EscapingContext: Sendable, Hashable {
        /// A text of the answer, which is written as JSON and escaped there.
        case text
        /// A URL, in which each value is one percent-encoded piece.
        case link
    }

    /// Cases that a template may distinguish: eight optional fields, or five optional booleans.
    private static let caseLimit = 256

    private let skeletons: [CompiledTemplate]
    private let fields: [TemplateField]
    private let escaping: EscapingContext

    /// - Throws: ``KindError`` where the template is no such one, or reads a field that the kind does not have.
    init(_ source: String, for place: EscapingContext, reading known: [(name: String, reference: FieldReference)]) throws(KindError) {
        let names = try TemplateTags.names(
            in: source, known: Set(known.map(\.name)), listed: known.map(\.name).sorted().joined(separator: ", "))
        fields = known.filter { names.contains($0.name) }.map { TemplateField(name: $0.name, reference: $0.reference) }
        var cases = 1
        for field in fields {
            cases *= field.states.count
            guard cases <= Self.caseLimit else { throw KindError([], "a template can combine eight optional fields, and fewer booleans") }
        }
        skeletons = try CompiledTemplate.all(of: source, fields: fields, cases: cases)
        self.escaping = place
    }

    /// What the template comes to in each case, with a plain letter for every value.
    fileprivate var samples: [String] {
        skeletons.map { $0.text(filledWith: fields.map { _ in "x" }) }
    }

    /// - Throws: ``ItemError`` where a field is not what the kind declares.
    func text(of values: FieldValues) throws(ItemError) -> String {
        var texts: [String] = []
        texts.reserveCapacity(fields.count)
        var number = 0
        for field in fields {
            let text = try values.text(field.reference)
            number = number * field.states.count + (field.states.firstIndex(of: field.state(of: text)) ?? 0)
            texts.append(text.map { escaping == .link ? PercentCoding.encode($0, keeping: .segment) : $0 } ?? "")
        }
        return skeletons.indices.contains(number) ? skeletons[number].text(filledWith: texts) : ""
    }
}

/// A link whose host stands in the declaration, and whose path and query may be put together from fields.
struct LinkTemplate: Sendable {
    private let template: TextTemplate

    /// - Throws: ``KindError`` where the template does not begin with a whole `https://host/` (or http): no field may say where a link leads;
    ///   or where it comes to no link, whatever the fields hold.
    init(_ source: String, reading known: [(name: String, reference: FieldReference)]) throws(KindError) {
        let literal = source.firstRange(of: "{{").map { source[..<$0.lowerBound] } ?? source[...]
        let start = Array(literal.utf8)[...]
        let authority = literal.firstRange(of: "://").map { literal[$0.upperBound...] } ?? ""
        guard ItemURL.error(in: start) == nil, authority.contains(where: { "/?#".contains($0) }) else {
            throw KindError([], "a link's template must begin with http:// or https://, a host and a slash, before its first field")
        }
        template = try TextTemplate(source, for: .link, reading: known)
        for sample in template.samples {
            if let fault = ItemURL.error(in: Array(sample.utf8)[...]) { throw KindError([], "a link from this template \(fault)") }
        }
    }

    /// - Throws: ``ItemError`` where a field is not what the kind declares, or the link becomes none, or too long.
    func href(of values: FieldValues) throws(ItemError) -> String {
        let href = try template.text(of: values)
        if let fault = ItemURL.error(in: Array(href.utf8)[...]) { throw ItemError(reason: "the link \(fault)") }
        return href
    }
}

/// The tags of a mustache template, looked through before the template is compiled.
///
/// Of mustache, templates of cells have variables, sections, inverted sections and comments. What reaches beyond the item, or changes how
/// the rest is read or escaped (partials, inheritance, delimiters, pragmas, lambdas), is refused; so is a name that the kind does not have,
/// which mustache itself would leave blank without a word.
private enum TemplateTags {
    /// Sections inside each other.
    private static let depthLimit = 16

    /// - Parameter known: what the kind's items have.
    /// - Returns: the names that the template reads.
    /// - Throws: ``KindError`` with what is wrong.
    static func names(in template: String, known: Set<String>, listed: String) throws(KindError) -> Set<String> {
        var names: Set<String> = []
        var open: [Substring] = []
        var rest = template[...]
        while let start = rest.firstRange(of: "{{") {
            rest = rest[start.upperBound...]
            let isTriple = rest.first == "{"
            guard let end = rest.firstRange(of: isTriple ? "}}}" : "}}") else { throw KindError([], "a tag is not closed with }}") }
            let tag = rest[..<end.lowerBound]
            rest = rest[end.upperBound...]
            let sigil = tag.first ?? " "
            if sigil == "!" { continue }
            let name = Self.name(in: "#^/&{".contains(sigil) ? tag.dropFirst() : tag)
            guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == ".") }), !name.isEmpty
            else {
                throw KindError([], "'{{\(ItemError.shown(tag))}}' is not a field, a section (#, ^, /) or a comment (!)")
            }
            if sigil == "/" {
                guard open.popLast() == name else { throw KindError([], "'{{/\(name)}}' ends no section that was begun") }
                continue
            }
            guard known.contains(String(name)) || (name == "." && !open.isEmpty) else {
                throw KindError([], "unknown field '\(name)' in a template; known are \(listed)")
            }
            if name != "." { names.insert(String(name)) }
            if sigil == "#" || sigil == "^" {
                open.append(name)
                guard open.count <= depthLimit else { throw KindError([], "sections are nested more than \(depthLimit) deep") }
            }
        }
        guard open.isEmpty else { throw KindError([], "the section '{{#\(open[open.count - 1])}}' is not ended") }
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
