/// What a declaration can name: a field of its kind, or the id or the type that every item has.
enum FieldReference: Sendable, Hashable {
    case id
    case variant
    case field(FieldDeclaration)

    /// What messages and conditions take it for.
    var type: FieldType {
        switch self {
        case .id, .variant: .text
        case .field(let field): field.type
        }
    }

    /// Whether every valid item has a value here.
    var isRequired: Bool {
        switch self {
        case .id, .variant: true
        case .field(let field): field.isRequired
        }
    }
}
