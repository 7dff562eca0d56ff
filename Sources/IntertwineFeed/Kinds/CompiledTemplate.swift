import Mustache

struct CompiledTemplate: Sendable {
    private enum Piece: Sendable {
        case literal(String)
        case value(Int)
    }

    private static let placeholders: ClosedRange<UInt32> = 0xF0000...0xF0FFF

    private let pieces: [Piece]

    static func all(of source: String, fields: [TemplateField], cases: Int) throws(KindError) -> [CompiledTemplate] {
        guard !source.unicodeScalars.contains(where: { placeholders.contains($0.value) }) else {
            throw KindError([], "a template must not have characters of private use")
        }
        let template: MustacheTemplate
        do {
            template = try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}" + source)
        } catch {
            throw KindError([], "the template cannot be read: \((error as? MustacheTemplate.ParserError)?.error ?? error)")
        }
        return (0..<cases).map { CompiledTemplate(template.render(TemplateValues(values: values(of: fields, in: $0)))) }
    }

    private static func values(of fields: [TemplateField], in number: Int) -> [(name: String, value: any Sendable)] {
        var rest = number
        var values: [(name: String, value: any Sendable)] = []
        for (index, field) in fields.enumerated().reversed() {
            let state = field.states[rest % field.states.count]
            rest /= field.states.count
            switch state {
            case .missing: break
            case .isTrue: values.append((field.name, true))
            case .isFalse: values.append((field.name, false))
            case .text, .zero:
                let mark = Unicode.Scalar(placeholders.lowerBound + UInt32(index)).map { String($0) }
                values.append((field.name, TemplateValue(renderText: mark ?? "", isNull: state == .zero)))
            }
        }
        return values
    }

    private init(_ rendered: String) {
        var pieces: [Piece] = []
        var literal = ""
        for scalar in rendered.unicodeScalars {
            guard Self.placeholders.contains(scalar.value) else {
                literal.unicodeScalars.append(scalar)
                continue
            }
            if !literal.isEmpty { pieces.append(.literal(literal)) }
            literal = ""
            pieces.append(.value(Int(scalar.value - Self.placeholders.lowerBound)))
        }
        if !literal.isEmpty { pieces.append(.literal(literal)) }
        self.pieces = pieces
    }

    func text(filledWith values: [String]) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .value(let index): text += values[index]
            }
        }
        return text
    }
}

struct TemplateField: Sendable {
    enum State: Sendable, Hashable {
        case missing, text, isTrue, isFalse
        /// The number of a count, which is never missing. Sections omit it.
        case zero
    }

    let name: String
    let reference: FieldReference
    let states: [State]

    init(name: String, reference: FieldReference) {
        self.name = name
        self.reference = reference
        let first: [State] = name.hasPrefix(SortField.countPrefix) ? [.zero] : reference.isRequired ? [] : [.missing]
        states = first + (reference.type == .boolean ? [.isTrue, .isFalse] : [.text])
    }

    func state(of text: String?) -> State {
        guard let text else { return .missing }
        guard reference.type == .boolean else { return text == "0" && states.contains(.zero) ? .zero : .text }
        return text == "true" ? .isTrue : .isFalse
    }
}

private struct TemplateValues: MustacheParent, MustacheCustomRenderable {
    let values: [(name: String, value: any Sendable)]
    let renderText = ""
    let isNull = false

    func child(named name: String) -> Any? {
        if let value = values.first(where: { $0.name == name })?.value { return value }
        let members = values.filter { $0.name.hasPrefix("\(name).") }.map { (String($0.name.dropFirst(name.count + 1)), $0.value) }
        return members.isEmpty ? nil : TemplateValues(values: members)
    }
}

private struct TemplateValue: MustacheParent, MustacheCustomRenderable {
    let renderText: String
    let isNull: Bool

    /// Returns nil, because a value has no members.
    func child(named: String) -> Any? { nil }
}
