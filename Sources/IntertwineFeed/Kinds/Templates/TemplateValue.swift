import Mustache

/// What stands for a field's value while a template is compiled: text, which sections can be entered with.
struct TemplateValue: MustacheParent, MustacheCustomRenderable {
    let renderText: String
    let isNull = false

    /// A value has no parts.
    func child(named: String) -> Any? { nil }
}
