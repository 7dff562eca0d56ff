/// A kind of item as configuration says it. ``DeclaredKind`` is made of it, once, when the service starts.
public struct KindDeclaration: Sendable, Hashable {
    /// The `klass` of the import format.
    public var name: String
    /// What cell ids begin with; nil for the name.
    public var prefix: String?
    public var lane: Lane
    /// The required text field that is the id of an item which brings none.
    public var id: String?
    /// What the `type` field may be, in the order of messages; where it is empty, items have no type.
    public var variants: [String]
    public var fields: [FieldDeclaration]
    /// For each layout, the cells to choose from. A layout without any shows none of the kind's items.
    public var cells: [CellLayout: [CellDeclaration]]
    /// The required `url` field that holds where the cells lead to.
    public var destination: String?
    public var presentation: PresentationDeclaration?
    /// The commands of each slot, by name.
    public var actions: [CommandKey: SlotCommands]

    public init(
        name: String, prefix: String? = nil, lane: Lane = .content, id: String? = nil, variants: [String] = [],
        fields: [FieldDeclaration], cells: [CellLayout: [CellDeclaration]], destination: String? = nil,
        presentation: PresentationDeclaration? = nil, actions: [CommandKey: SlotCommands] = [:]
    ) {
        self.name = name
        self.prefix = prefix
        self.lane = lane
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
public struct CellDeclaration: Sendable, Hashable {
    /// The reuse identifier under which clients register a cell class.
    public var identifier: String
    public var size: SizeRule
    /// What has to hold for this cell to be chosen: all of them. The first cell of a layout whose conditions hold shows the item.
    public var conditions: [FieldCondition]
    public var bindings: [BindingDeclaration]
    /// The name of the companion that the cell is, such as `photos`; nil for the first cell of an item. Of each companion too, the first
    /// cell whose conditions hold shows the item; where none does, the item has no such companion.
    public var companion: String?

    public init(
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
public struct FieldCondition: Sendable, Hashable {
    public enum Test: Sendable, Hashable {
        /// One of these values, written as the field's type writes them. A missing field is none of them.
        case anyOf([String])
        /// Whether the field is there.
        case present(Bool)
        /// A number within bounds, both included.
        case between(minimum: Double?, maximum: Double?)
    }

    /// A field of the kind, or `id` or `type`.
    public var field: String
    public var test: Test

    public init(_ field: String, _ test: Test) {
        self.field = field
        self.test = test
    }
}

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

/// The screen that cells of a declared kind open.
public struct PresentationDeclaration: Sendable, Hashable {
    /// How it is shown, such as `push`.
    public var type: String
    public var screen: String
    public var arguments: [BindingDeclaration]

    public init(type: String = "push", screen: String, arguments: [BindingDeclaration]) {
        self.type = type
        self.screen = screen
        self.arguments = arguments
    }
}

/// Why a declaration is no kind: where in it, and what is wrong and what is allowed.
public struct KindFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Names and indices from the declaration's top, such as `cells`, `table`, `0`, `identifier`.
    public var path: [String]
    public var reason: String

    public init(_ path: [String], _ reason: String) {
        self.path = path
        self.reason = reason
    }

    public var description: String {
        path.isEmpty ? reason : "\(path.joined(separator: ".")): \(reason)"
    }
}
