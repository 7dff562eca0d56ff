/// A kind of item as declared in configuration. A ``DeclaredKind`` is compiled from it once, at service startup.
package struct KindDeclaration: Sendable, Hashable {
    /// The value of the member `kind` of an item.
    package var name: String
    /// The prefix of cell ids. If it is nil, the name is used.
    package var prefix: String?
    package var stream: StreamID
    /// The required text field that is the id of an item without an id.
    package var id: String?
    /// The allowed values of the `type` field, in the order of messages. If it is empty, items have no type.
    package var variants: [String]
    package var fields: [FieldDeclaration]
    /// The candidate cells of each layout. A layout without cells shows no items of this kind.
    package var cells: [CellLayout: [CellDeclaration]]
    /// The `url` field with the destination of the cells.
    package var destination: String?
    package var presentation: PresentationDeclaration?
    /// The names of the commands of each slot.
    package var actions: [CommandKey: SlotCommands]

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

/// A cell in which items of a declared kind can be shown.
package struct CellDeclaration: Sendable, Hashable {
    /// The reuse identifier under which clients register a cell class.
    package var identifier: String
    /// The version of the bindings of the cell. A client that supports only an older version does not support this cell.
    package var version = 1
    package var size: SizeRule
    /// The conditions for this cell, which must all hold.
    ///
    /// The first cell of a layout whose conditions hold and that the client supports shows the item.
    package var conditions: [FieldCondition]
    package var bindings: [BindingDeclaration]
    /// The name of the companion, such as `photos`, or nil for a primary cell.
    ///
    /// For each companion, too, the first cell whose conditions hold shows the item. If none matches, the item has no such companion.
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

/// A condition on a field under which a cell shows the item.
package struct FieldCondition: Sendable, Hashable {
    package enum Test: Sendable, Hashable {
        /// The field has one of these values, in the notation of the field type. A missing field does not match.
        case anyOf([String])
        /// The field is present (true) or missing (false).
        case present(Bool)
        /// The field is a number within the inclusive bounds.
        case between(minimum: Double?, maximum: Double?)
    }

    /// The name of a field of the kind, or `id` or `type`.
    package var field: String
    package var test: Test

    package init(_ field: String, _ test: Test) {
        self.field = field
        self.test = test
    }
}

/// The assignment of a field to a part of a cell or to an argument of a screen, with its type.
package struct BindingDeclaration: Sendable, Hashable {
    package enum BindingFormat: String, Sendable, Hashable, CaseIterable {
        case text, image, date, number, link
    }

    /// The part of the cell, or the argument of the screen.
    package var part: String
    package var form: BindingFormat
    /// The name of a field or, for texts and links, a mustache template that combines fields. Texts and links may have one source per language.
    package var source: LocalizedText
    /// The display size of an image. It is nil for the original image and for other types.
    package var image: ImageDeclaration?
    /// The alternative text of an image: the name of a field or a template.
    ///
    /// If it is nil, the first text of the cell is used. It is empty for a decorative image.
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

/// The image options of a part of a cell.
package struct ImageDeclaration: Sendable, Hashable {
    package enum Fit: Sendable, Hashable {
        case fit
        case centre
        case attention
        /// Two number fields from 0 to 1, measured from the left and from the top. If an item lacks one, `attention` is used.
        case fields(x: String, y: String)
    }

    package var rule: ImageSizing
    package var fit: Fit

    package init(_ rule: ImageSizing, _ fit: Fit = .centre) {
        self.rule = rule
        self.fit = fit
    }
}

/// The screen that cells of a declared kind open.
package struct PresentationDeclaration: Sendable, Hashable {
    /// The presentation style, such as `push`.
    package var type: String
    package var screen: String
    package var arguments: [BindingDeclaration]

    package init(type: String = "push", screen: String, arguments: [BindingDeclaration]) {
        self.type = type
        self.screen = screen
        self.arguments = arguments
    }
}

/// An error in a declaration: its path, the cause, and the allowed values.
package struct KindError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The names and indices from the top of the declaration, such as `cells`, `table`, `0`, `identifier`.
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
