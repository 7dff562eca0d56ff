/// The fields of one stored item, read as its kind declares them. Pictures are minted once, however many parts show them.
struct FieldValues {
    let item: FeedItem
    private let fields: ItemFields
    private var images: [(field: String, href: String)] = []

    /// - Throws: ``ItemFault`` where the body is no JSON object.
    init(_ item: FeedItem) throws(ItemFault) {
        self.item = item
        fields = try ItemFields(item.body)
    }

    /// The value as text, or nil where the item has none.
    ///
    /// - Throws: ``ItemFault`` where the value is not what the kind declares: it was stored under another declaration.
    func text(_ reference: FieldReference) throws(ItemFault) -> String? {
        switch reference {
        case .id: item.id
        case .variant: item.variant
        case .field(let field): try field.value(in: fields).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The href of a picture.
    mutating func image(_ reference: FieldReference, in context: CellContext) throws(ItemFault) -> String? {
        guard case .field(let field) = reference else { return nil }
        if let known = images.first(where: { $0.field == field.name }) { return known.href }
        guard let source = try text(reference) else { return nil }
        let href = context.links.image(source, now: context.now)
        images.append((field.name, href))
        return href
    }
}
