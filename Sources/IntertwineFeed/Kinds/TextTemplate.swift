internal import IntertwinePrimitives

/// A mustache template that combines the fields of an item, compiled once.
/// The structure of the output depends only on which fields an item has and which booleans are true; values are inserted. Mustache
/// therefore runs at service startup, once for each such case, and produces a ``CompiledTemplate`` of literals and slots for values.
/// Rendering costs as much as joining strings, and a value is never parsed as a template.
/// A triple brace equals a double brace, so no spelling of a tag bypasses the escaping.
struct TextTemplate: Sendable {
    enum EscapingContext: Sendable, Hashable {
        case text
        /// A URL in which each value is one percent-encoded segment.
        case link
    }

    private static let caseLimit = 256

    private let skeletons: [CompiledTemplate]
    private let fields: [TemplateField]
    private let escaping: EscapingContext

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

    fileprivate var samples: [String] {
        skeletons.map { $0.text(filledWith: fields.map { _ in "x" }) }
    }

    func text(of values: FieldValues) throws(ItemError) -> String {
        var texts: [String] = []
        texts.reserveCapacity(fields.count)
        var number = 0
        for field in fields {
            let text = try escaping == .link ? values.text(field.reference) : values.shown(field.reference)
            number = number * field.states.count + (field.states.firstIndex(of: field.state(of: text)) ?? 0)
            texts.append(text.map { escaping == .link ? PercentCoding.encode($0, keeping: .segment) : $0 } ?? "")
        }
        return skeletons.indices.contains(number) ? skeletons[number].text(filledWith: texts) : ""
    }
}

/// A link with a constant host, whose path and query may contain fields.
struct LinkTemplate: Sendable {
    private let template: TextTemplate

    init(_ source: String, reading known: [(name: String, reference: FieldReference)]) throws(KindError) {
        let literal = source.firstRange(of: "{{").map { source[..<$0.lowerBound] } ?? source[...]
        let start = Array(literal.utf8)[...]
        let authority = literal.firstRange(of: "://").map { literal[$0.upperBound...] } ?? ""
        guard (try? ItemURL.absolute(start)) != nil, authority.contains(where: { "/?#".contains($0) }) else {
            throw KindError([], "a link's template must begin with http:// or https://, a host and a slash, before its first field")
        }
        template = try TextTemplate(source, for: .link, reading: known)
        for sample in template.samples {
            do throws(ItemError) { _ = try ItemURL.absolute(Array(sample.utf8)[...]) } catch {
                throw KindError([], "a link from this template \(error.reason)")
            }
        }
    }

    func href(of values: FieldValues) throws(ItemError) -> String {
        let href = Array(try template.text(of: values).utf8)[...]
        do throws(ItemError) { return String(decoding: try ItemURL.absolute(href), as: UTF8.self) } catch {
            throw ItemError(reason: "the link \(error.reason)")
        }
    }
}

/// An unknown field name is rejected too, because mustache would silently render it as empty.
private enum TemplateTags {
    private static let depthLimit = 16

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
                guard open.popLast() == name else { throw KindError([], "'{{/\(name)}}' closes no open section") }
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
        guard open.isEmpty else { throw KindError([], "the section '{{#\(open[open.count - 1])}}' is not closed") }
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
