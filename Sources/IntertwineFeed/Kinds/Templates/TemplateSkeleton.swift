import Mustache

/// What a template comes to in one case: literals, and places for values.
struct TemplateSkeleton: Sendable {
    private enum Piece: Sendable {
        case literal(String)
        /// The index of a field.
        case value(Int)
    }

    /// Stand for values while mustache runs: characters of private use, which templates are refused for having.
    private static let marks: ClosedRange<UInt32> = 0xF0000...0xF0FFF

    private let pieces: [Piece]

    /// The skeletons of a template, in the order of the cases: the states of the last field change fastest.
    ///
    /// - Throws: ``KindFault`` where mustache cannot read the template.
    static func all(of source: String, fields: [TemplateField], cases: Int) throws(KindFault) -> [TemplateSkeleton] {
        guard !source.unicodeScalars.contains(where: { marks.contains($0.value) }) else {
            throw KindFault([], "a template must not have characters of private use")
        }
        let template: MustacheTemplate
        do {
            template = try MustacheTemplate(string: "{{% CONTENT_TYPE:TEXT}}" + source)
        } catch {
            throw KindFault([], "the template cannot be read: \((error as? MustacheTemplate.ParserError)?.error ?? error)")
        }
        return (0..<cases).map { TemplateSkeleton(template.render(TemplateValues(values: values(of: fields, in: $0)))) }
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
            case .text:
                let mark = Unicode.Scalar(marks.lowerBound + UInt32(index)).map { String($0) }
                values.append((field.name, TemplateValue(renderText: mark ?? "")))
            }
        }
        return values
    }

    private init(_ rendered: String) {
        var pieces: [Piece] = []
        var literal = ""
        for scalar in rendered.unicodeScalars {
            guard Self.marks.contains(scalar.value) else {
                literal.unicodeScalars.append(scalar)
                continue
            }
            if !literal.isEmpty { pieces.append(.literal(literal)) }
            literal = ""
            pieces.append(.value(Int(scalar.value - Self.marks.lowerBound)))
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
