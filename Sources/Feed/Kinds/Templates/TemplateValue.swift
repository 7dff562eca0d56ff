import Mustache

/// A field's value inside a template: text that is escaped already for where the template stands, and that sections can be entered with.
struct TemplateValue: MustacheParent, MustacheCustomRenderable {
    let renderText: String
    let isNull = false

    /// A value has no parts.
    func child(named: String) -> Any? { nil }
}
