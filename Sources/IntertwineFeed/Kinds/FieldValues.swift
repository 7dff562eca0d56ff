/// The URL of an image is signed once, even if several parts show the image.
struct FieldValues {
    private let item: FeedItem
    private let language: FeedLanguage?
    private let fields: ItemFields
    private var images: [(field: String, href: String)] = []

    init(_ item: FeedItem, in language: FeedLanguage? = nil) throws(ItemError) {
        self.item = item
        self.language = language
        fields = try ItemFields(item.body)
    }

    /// ``ItemError`` if the value does not match the kind, because it was stored under another declaration.
    func text(_ reference: FieldReference) throws(ItemError) -> String? {
        switch reference {
        case .id: item.id
        case .variant: item.variant
        case .field(let field):
            // Without a viewer on the list, the store has no count.
            try field.value(in: fields, for: language).map { String(decoding: $0, as: UTF8.self) }
                ?? (field.name.hasPrefix(SortField.countPrefix) ? "0" : nil)
        }
    }

    /// Returns the text as people read it.
    func shown(_ reference: FieldReference) throws(ItemError) -> String? {
        let text = try text(reference)
        guard let text, case .field(let field) = reference else { return text }
        return field.format?.text(of: text, in: language) ?? field.choiceLabels[text]?[language] ?? text
    }

    mutating func image(_ reference: FieldReference, in context: CellContext) throws(ItemError) -> String? {
        guard case .field(let field) = reference else { return nil }
        if let known = images.first(where: { $0.field == field.name }) { return known.href }
        guard let source = try text(reference) else { return nil }
        let href = context.links.image(source, now: context.now)
        images.append((field.name, href))
        return href
    }

    func image(
        _ reference: FieldReference, _ shown: ImageReference, in cell: CellSize, _ context: CellContext
    ) throws(ItemError) -> ImageBinding? {
        guard let source = try text(reference) else { return nil }
        let fit: ImageGeometry.Fit
        switch shown.fit {
        case .fit: fit = .fit
        case .fill(let focus): fit = .fill(focus)
        case .fields(let x, let y):
            let point = (try text(x).flatMap { Double($0) }, try text(y).flatMap { Double($0) })
            if let x = point.0, let y = point.1 { fit = .fill(.point(x: x, y: y)) } else { fit = .fill(.attention) }
        }
        var shape = shown.rule.shape(in: cell, fit)
        shape.part = shown.part
        return context.links.image(source, shape, scale: context.scale, now: context.now)
    }
}

enum FieldReference: Sendable, Hashable {
    case id
    case variant
    case field(FieldDeclaration)

    var type: FieldType {
        switch self {
        case .id, .variant: .text
        case .field(let field): field.type
        }
    }

    var isRequired: Bool {
        switch self {
        case .id, .variant: true
        case .field(let field): field.isRequired
        }
    }
}

struct DeclaredBinding: Sendable {
    let part: String
    let source: ByLanguage<BindingSource>
    let alternative: ByLanguage<BindingSource>?
    let isDecorative: Bool
}

struct ImageReference: Sendable {
    enum Fit: Sendable {
        case fit
        case fill(ImageGeometry.Focus)
        case fields(x: FieldReference, y: FieldReference)
    }

    let rule: ImageSizing
    let fit: Fit
    let part: String
}

enum BindingSource: Sendable {
    case text(FieldReference)
    case template(TextTemplate)
    case image(FieldReference, ImageReference?)
    case date(FieldReference)
    case number(FieldReference)
    case link(FieldReference)
    case linkTemplate(LinkTemplate)
    case media(FieldReference)

    func value(of values: inout FieldValues, in cell: CellSize, _ context: CellContext) throws(ItemError) -> CellBinding.Value? {
        if case .image(let reference, let shown?) = self {
            return try values.image(reference, shown, in: cell, context).map { .image($0) }
        }
        guard let text = try text(of: &values, in: context) else { return nil }
        switch self {
        case .text, .template: return .text(text)
        case .image: return .image(text)
        case .date: return .date(text)
        case .link, .linkTemplate: return .link(text)
        case .media: return .media(context.links.media(text))
        case .number: return Int64(text).map { .integer($0) } ?? Double(text).map { .number($0) }
        }
    }

    func text(of values: inout FieldValues, in context: CellContext) throws(ItemError) -> String? {
        switch self {
        case .text(let reference): return try values.shown(reference)
        case .date(let reference), .number(let reference), .link(let reference), .media(let reference): return try values.text(reference)
        case .image(let reference, _): return try values.image(reference, in: context)
        case .template(let template):
            let text = try template.text(of: values)
            return text.isEmpty ? nil : text
        case .linkTemplate(let template): return try template.href(of: values)
        }
    }
}
