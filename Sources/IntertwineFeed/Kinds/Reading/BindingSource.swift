/// Where a part of a cell gets its value from.
enum BindingSource: Sendable {
    case text(FieldReference)
    case template(TextTemplate)
    case image(FieldReference)
    case date(FieldReference)
    case number(FieldReference)
    case link(FieldReference)
    case linkTemplate(LinkTemplate)

    /// What the part is filled with; nil where the item has nothing for it.
    ///
    /// - Throws: ``ItemFault`` where a field is not what the kind declares.
    func value(of values: inout FieldValues, in context: CellContext) throws(ItemFault) -> Binding.Value? {
        guard let text = try text(of: &values, in: context) else { return nil }
        switch self {
        case .text, .template: return .text(text)
        case .image: return .image(text)
        case .date: return .custom(type: "date", .text(text))
        case .link, .linkTemplate: return .custom(type: "link", .text(text))
        case .number:
            if let whole = Int64(text) { return .custom(type: "number", .integer(whole)) }
            return Double(text).map { .custom(type: "number", .number($0)) }
        }
    }

    /// The same as an argument of a screen has it: text, whatever it stands for.
    func text(of values: inout FieldValues, in context: CellContext) throws(ItemFault) -> String? {
        switch self {
        case .text(let reference), .date(let reference), .number(let reference), .link(let reference): return try values.text(reference)
        case .image(let reference): return try values.image(reference, in: context)
        case .template(let template):
            let text = try template.text(of: values)
            return text.isEmpty ? nil : text
        case .linkTemplate(let template): return try template.href(of: values)
        }
    }
}
