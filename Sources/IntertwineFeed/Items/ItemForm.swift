/// A kind together with a variant of it: what one factory makes cells for, such as an advertisement of type `image`.
public struct ItemForm: Sendable, Hashable {
    public var kind: String
    public var variant: String

    public init(kind: String, variant: String) {
        self.kind = kind
        self.variant = variant
    }
}
