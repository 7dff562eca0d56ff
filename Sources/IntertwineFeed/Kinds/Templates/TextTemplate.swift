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
    enum Place: Sendable, Hashable {
        /// A text of the answer, which is written as JSON and escaped there.
        case text
        /// A URL, in which each value is one percent-encoded piece.
        case link
    }

    /// Cases that a template may distinguish: eight optional fields, or five optional booleans.
    static let caseLimit = 256

    private let skeletons: [TemplateSkeleton]
    private let fields: [TemplateField]
    private let place: Place

    /// - Throws: ``KindFault`` where the template is no such one, or reads a field that the kind does not have.
    init(_ source: String, for place: Place, reading known: [(name: String, reference: FieldReference)]) throws(KindFault) {
        let names = try TemplateTags.names(
            in: source, known: Set(known.map(\.name)), listed: known.map(\.name).sorted().joined(separator: ", "))
        fields = known.filter { names.contains($0.name) }.map { TemplateField(name: $0.name, reference: $0.reference) }
        var cases = 1
        for field in fields {
            cases *= field.states.count
            guard cases <= Self.caseLimit else { throw KindFault([], "a template can combine eight optional fields, and fewer booleans") }
        }
        skeletons = try TemplateSkeleton.all(of: source, fields: fields, cases: cases)
        self.place = place
    }

    /// What the template comes to in each case, with a plain letter for every value.
    var samples: [String] {
        skeletons.map { $0.text(filledWith: fields.map { _ in "x" }) }
    }

    /// - Throws: ``ItemFault`` where a field is not what the kind declares.
    func text(of values: FieldValues) throws(ItemFault) -> String {
        var texts: [String] = []
        texts.reserveCapacity(fields.count)
        var number = 0
        for field in fields {
            let text = try values.text(field.reference)
            number = number * field.states.count + (field.states.firstIndex(of: field.state(of: text)) ?? 0)
            texts.append(text.map { place == .link ? PercentCoding.encode($0, keeping: .segment) : $0 } ?? "")
        }
        return skeletons.indices.contains(number) ? skeletons[number].text(filledWith: texts) : ""
    }
}
