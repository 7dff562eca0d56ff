/// A field that a template reads, and the cases that it makes for the template.
struct TemplateField: Sendable {
    enum State: Sendable, Hashable {
        case missing, text, isTrue, isFalse
    }

    let name: String
    let reference: FieldReference
    /// Those that a valid item can be in.
    let states: [State]

    init(name: String, reference: FieldReference) {
        self.name = name
        self.reference = reference
        states = (reference.isRequired ? [] : [.missing]) + (reference.type == .boolean ? [.isTrue, .isFalse] : [.text])
    }

    /// - Parameter text: the field's value in an item.
    func state(of text: String?) -> State {
        guard let text else { return .missing }
        guard reference.type == .boolean else { return .text }
        return text == "true" ? .isTrue : .isFalse
    }
}
