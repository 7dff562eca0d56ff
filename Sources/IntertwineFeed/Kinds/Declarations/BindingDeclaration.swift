/// Which field fills which part of a cell, or which argument of a screen, and as what.
public struct BindingDeclaration: Sendable, Hashable {
    public enum Form: String, Sendable, Hashable, CaseIterable {
        case text, image, date, number, link
    }

    /// The part of the cell, or the argument of the screen.
    public var part: String
    public var form: Form
    /// A field's name; or, for texts and links, a mustache template that combines fields.
    public var source: String

    public init(_ part: String, _ form: Form, _ source: String) {
        self.part = part
        self.form = form
        self.source = source
    }
}
