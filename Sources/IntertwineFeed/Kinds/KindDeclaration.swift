/// A kind of item as configuration says it. ``DeclaredKind`` is made of it, once, when the service starts.
package struct KindDeclaration: Sendable, Hashable {
    /// The `klass` of the import format.
    package var name: String
    /// What cell ids begin with; nil for the name.
    package var prefix: String?
    package var stream: StreamID
    /// The required text field that is the id of an item which brings none.
    package var id: String?
    /// What the `type` field may be, in the order of messages; where it is empty, items have no type.
    package var variants: [String]
    package var fields: [FieldDeclaration]
    /// For each layout, the cells to choose from. A layout without any shows none of the kind's items.
    package var cells: [CellLayout: [CellDeclaration]]
    /// The required `url` field that holds where the cells lead to.
    package var destination: String?
    package var presentation: PresentationDeclaration?
    /// The commands of each slot, by name.
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

/// A cell that items of a declared kind can be shown in.
package struct CellDeclaration: Sendable, Hashable {
    /// The reuse identifier under which clients register a cell class.
    package var identifier: String
    /// Of what it binds: a client that knows an older one alone does not know this cell.
    package var version = 1
    package var size: SizeRule
    /// What has to hold for this cell to be chosen: all of them. The first cell of a layout whose conditions hold, and that the client knows,
    /// shows the item.
    package var conditions: [FieldCondition]
    package var bindings: [BindingDeclaration]
    /// The name of the companion that the cell is, such as `photos`; nil for the first cell of an item. Of each companion too, the first
    /// cell whose conditions hold shows the item; where none does, the item has no such companion.
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

/// What a field has to be for a cell to show the item.
package struct FieldCondition: Sendable, Hashable {
    package enum Test: Sendable, Hashable {
        /// One of these values, written as the field's type writes them. A missing field is none of them.
        case anyOf([String])
        /// Whether the field is there.
        case present(Bool)
        /// A number within bounds, both included.
        case between(minimum: Double?, maximum: Double?)
    }

    /// A field of the kind, or `id` or `type`.
    package var field: String
    package var test: Test

    package init(_ field: String, _ test: Test) {
        self.field = field
        self.test = test
    }
}

/// Which field fills which part of a cell, or which argument of a screen, and as what.
package struct BindingDeclaration: Sendable, Hashable {
    package enum BindingFormat: String, Sendable, Hashable, CaseIterable {
        case text, image, date, number, link
    }

    /// The part of the cell, or the argument of the screen.
    package var part: String
    package var form: BindingFormat
    /// A field's name; or, for texts and links, a mustache template that combines fields. Of texts and links, perhaps one for each of some
    /// languages.
    package var source: LocalizedText
    /// How large a picture is shown; nil for the original, and for everything else.
    package var image: ImageDeclaration?
    /// Of a picture: what is told of it to those who do not see it, a field's name or a template. Nil for the first text of the cell, empty for
    /// one that only adorns.
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

/// How a part of a cell shows a picture.
package struct ImageDeclaration: Sendable, Hashable {
    package enum Fit: Sendable, Hashable {
        case fit
        case centre
        case attention
        /// Two number fields from 0 to 1: from the left, and from the top. Where an item lacks one, attention decides.
        case fields(x: String, y: String)
    }

    package var rule: ImageSizing
    package var fit: Fit
    /// The field that names what the picture shows; nil for none.
    package var name: String?

    package init(_ rule: ImageSizing, _ fit: Fit = .centre, name: String? = nil) {
        self.rule = rule
        self.fit = fit
        self.name = name
    }
}

/// The screen that cells of a declared kind open.
package struct PresentationDeclaration: Sendable, Hashable {
    /// How it is shown, such as `push`.
    package var type: String
    package var screen: String
    package var arguments: [BindingDeclaration]

    package init(type: String = "push", screen: String, arguments: [BindingDeclaration]) {
        self.type = type
        self.screen = screen
        self.arguments = arguments
    }
}

/// Why a declaration is no kind: where in it, and what is wrong and what is allowed.
package struct KindError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Names and indices from the declaration's top, such as `cells`, `table`, `0`, `identifier`.
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
