package struct KindDeclaration: Sendable, Hashable {
    package var name: String
    package var prefix: String?
    package var stream: StreamID
    package var id: String?
    package var variants: [String]
    package var fields: [FieldDeclaration]
    package var cells: [CellLayout: [CellDeclaration]]
    package var destination: String?
    package var presentation: PresentationDeclaration?
    package var actions: [CommandKey: SlotCommands]
    package var lists: [DeclaredList] = []
    package var author: String?

    package init(
        name: String, prefix: String? = nil, stream: StreamID = .content, id: String? = nil, variants: [String] = [],
        fields: [FieldDeclaration], cells: [CellLayout: [CellDeclaration]], destination: String? = nil,
        presentation: PresentationDeclaration? = nil, actions: [CommandKey: SlotCommands] = [:]
    ) {
        self.name = name
        self.prefix = prefix
        self.stream = stream
        self.id = id
        self.variants = variants
        self.fields = fields
        self.cells = cells
        self.destination = destination
        self.presentation = presentation
        self.actions = actions
    }
}

extension KindDeclaration {
    /// The number fields that have the point which crops keep, by the image field.
    var focus: [String: [String]] {
        let bindings = cells.values.joined().flatMap(\.bindings)
        return bindings.reduce(into: [:]) { focus, binding in
            if case .fields(let x, let y)? = binding.image?.fit { focus[binding.source.first] = [x, y] }
        }
    }
}

extension KindDeclaration {
    /// The field that cells bind as `reason`; nil if they do not, or if items have a field with this name.
    var reasonField: FieldDeclaration? {
        guard !fields.contains(where: { $0.name == "reason" }) else { return nil }
        let isBound = cells.values.joined().contains { cell in
            cell.conditions.contains { $0.field == "reason" }
                || cell.bindings.contains { binding in
                    [binding.source, binding.alternative].contains { $0?.all.contains { $0.contains("reason") } ?? false }
                }
        }
        return isBound ? FieldDeclaration(FeedItem.reasonName, .text) : nil
    }
}

extension DeclaredList {
    var countField: FieldDeclaration? {
        count.map { FieldDeclaration(SortField.countPrefix + $0, .number, isWhole: true) }
    }
}

package struct CellDeclaration: Sendable, Hashable {
    package var identifier: String
    package var version = 1
    package var size: SizeRule
    /// The conditions for this cell, which must all hold.
    package var conditions: [FieldCondition]
    package var bindings: [BindingDeclaration]
    package var companion: String?

    package init(
        _ identifier: String, size: SizeRule, conditions: [FieldCondition] = [], bindings: [BindingDeclaration], companion: String? = nil
    ) {
        self.identifier = identifier
        self.size = size
        self.conditions = conditions
        self.bindings = bindings
        self.companion = companion
    }
}

package struct FieldCondition: Sendable, Hashable {
    package enum Test: Sendable, Hashable {
        case anyOf([String])
        case present(Bool)
        case between(minimum: Double?, maximum: Double?)
    }

    package var field: String
    package var test: Test

    package init(_ field: String, _ test: Test) {
        self.field = field
        self.test = test
    }
}

package struct BindingDeclaration: Sendable, Hashable {
    package enum BindingFormat: String, Sendable, Hashable, CaseIterable {
        case text, image, date, number, link, media
    }

    package var part: String
    package var form: BindingFormat
    package var source: LocalizedText
    package var image: ImageDeclaration?
    package var alternative: LocalizedText?

    package init(_ part: String, _ form: BindingFormat, _ source: String, image: ImageDeclaration? = nil, alternative: String? = nil) {
        self.init(part, form, LocalizedText(source), image: image, alternative: alternative.map { LocalizedText($0) })
    }

    package init(
        _ part: String, _ form: BindingFormat, _ source: LocalizedText, image: ImageDeclaration? = nil, alternative: LocalizedText? = nil
    ) {
        self.part = part
        self.form = form
        self.source = source
        self.image = image
        self.alternative = alternative
    }
}

package struct ImageDeclaration: Sendable, Hashable {
    package enum Fit: Sendable, Hashable {
        case fit
        case centre
        case attention
        case fields(x: String, y: String)
    }

    package var rule: ImageSizing
    package var fit: Fit

    package init(_ rule: ImageSizing, _ fit: Fit = .centre) {
        self.rule = rule
        self.fit = fit
    }
}

package struct PresentationDeclaration: Sendable, Hashable {
    package var type: String
    package var screen: String
    package var arguments: [BindingDeclaration]

    package init(type: String = "push", screen: String, arguments: [BindingDeclaration]) {
        self.type = type
        self.screen = screen
        self.arguments = arguments
    }
}

package struct KindError: Error, Sendable, Hashable, CustomStringConvertible {
    package var path: [String]
    package var reason: String

    package init(_ path: [String], _ reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String {
        path.isEmpty ? reason : "\(path.joined(separator: ".")): \(reason)"
    }
}
