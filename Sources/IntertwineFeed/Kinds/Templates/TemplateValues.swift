import Mustache

/// What one case has for a template, by name. Missing fields are missing, booleans choose sections.
struct TemplateValues: MustacheParent, MustacheCustomRenderable {
    let values: [(name: String, value: any Sendable)]
    let renderText = ""
    let isNull = false

    func child(named name: String) -> Any? {
        values.first { $0.name == name }?.value
    }
}
