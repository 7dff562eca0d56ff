import Mustache

/// A mustache template that combines the fields of an item, compiled once.
///
/// Values are escaped for where the template stands before mustache sees them, and mustache's own escaping (for HTML) is off: so a
/// triple brace means the same as a double one, and no spelling of a tag gets a value past its escaping. What a value holds is never read
/// as a template.
struct TextTemplate: Sendable {
    enum Place: Sendable, Hashable {
        /// A text of the answer, which is written as JSON and escaped there.
        case text
        /// A URL, in which each value is one percent-encoded piece.
        case link
    }

    private let template: MustacheTemplate
    private let references: [(name: String, reference: FieldReference)]
    private let place: Place

    /// - Throws: ``KindFault`` where the template is no such one, or reads a field that the kind does not have.
    init(_ source: String, for place: Place, reading known: [(name: String, reference: FieldReference)]) throws(KindFault) {
        let names = try TemplateTags.names(
            in: source, known: Set(known.map(\.name)), listed: known.map(\.name).sorted().joined(separator: ", "))
        references = known.filter { names.contains($0.name) }
        self.place = place
        do {
            template = try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}" + source)
        } catch let error as MustacheTemplate.ParserError {
            throw KindFault([], "the template cannot be read: \(error.error)")
        } catch {
            throw KindFault([], "the template cannot be read: \(error)")
        }
    }

    /// - Throws: ``ItemFault`` where a field is not what the kind declares.
    func text(of values: FieldValues) throws(ItemFault) -> String {
        var read: [(name: String, value: any Sendable)] = []
        read.reserveCapacity(references.count)
        for (name, reference) in references {
            guard let text = try values.text(reference) else { continue }
            if reference.type == .boolean {
                read.append((name, text == "true"))
            } else {
                read.append((name, TemplateValue(renderText: place == .link ? PathSegment.encode(text) : text)))
            }
        }
        return template.render(TemplateValues(values: read))
    }
}
