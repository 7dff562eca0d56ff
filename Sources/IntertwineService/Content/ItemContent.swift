public import Foundation
public import IntertwineFeed

/// A kind of item as a `Codable` type, with its validation and its cell.
///
/// ```swift
/// struct Card: ItemContent {
///     static let kind = "card"
///
///     var text: String
///     var picture: URL?
///
///     func cell(in context: CellContext) -> Cell {
///         Cell("CardCell", size: CellSize(width: 300, height: 200)) {
///             Bind("text", text)
///             Bind("picture", image: picture)
///         }
///     }
/// }
///
/// extensions.add(Card.self, actions: .on(.selection, Analytics()).on("like", Like(), label: "Like"))
/// ```
///
/// The properties are the fields of the kind: `String`, numbers, `Bool`, `Date`, `URL`, `UUID`, and enums that are `CaseIterable` with raw values of
/// the type `String`. An `Optional` is an optional field. A property `id` is the id of the item, and a property `type`, which is an enum, is its
/// variant. The JSON Schema, the validation of imports and of the admin API, and the languages of texts follow from them.
///
/// The service decodes sample values when it starts, to find the fields, and makes a cell from them, to find its identifier. `init(from:)` must
/// therefore read the same fields for all values. A type that cannot be described ends the start, with the name of the property.
///
/// `CellViewModelFactory` and `ItemKind` are the protocols below, for kinds whose cells or fields need more.
public protocol ItemContent: Codable, Sendable {
    /// The value of the member `kind` of an item. It is the prefix of the ids of its cells, too.
    static var kind: String { get }

    /// Declarations of fields that have limits, choices, several languages, or a label. Their requirement follows from the properties.
    static var fields: [FieldDeclaration] { get }

    /// The identifiers of all cells, if items have different ones; empty if ``cell(in:)`` always returns one identifier.
    static var cells: [CellIdentifier] { get }

    /// Validates an item beyond the types and limits of its fields. It is called when an item is stored, once for each language.
    ///
    /// - Throws: `ItemError` with the name of a field, or any error with a description for the author of the item.
    func validate() throws

    /// Returns the cell that shows the item.
    ///
    /// The cell must depend only on the item and the context, and must be constant within an hour, because rendered cells are cached.
    ///
    /// - Throws: An error if the item cannot be shown. The item is then omitted from the page, logged and counted.
    func cell(in context: CellContext) throws -> Cell
}

extension ItemContent {
    /// No declarations. The types of the properties then define the fields.
    public static var fields: [FieldDeclaration] { [] }
    /// No identifiers. All items then have the identifier of the first cell.
    public static var cells: [CellIdentifier] { [] }
    /// Accepts all items whose fields have valid types.
    public func validate() throws {}
}

/// A cell of an ``ItemContent``: its identifier, its size and the values of its parts.
public struct Cell: Sendable {
    let identifier: CellIdentifier
    let size: CellSize
    let bindings: [Bind]
    private(set) var presentation: Presentation?
    private(set) var destination: String?

    /// Creates a cell from its identifier, its size and the values of its parts.
    ///
    /// ```swift
    /// Cell("CardCell", size: CellSize(width: 300, height: 200)) {
    ///     Bind("text", text)
    ///     if let picture { Bind("picture", image: picture) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - identifier: The reuse identifier under which clients register a cell class.
    ///   - version: The version of the bindings, from 1.
    ///   - size: The size in points. `SizeRule` calculates sizes from the width of the client.
    public init(_ identifier: String, version: Int = 1, size: CellSize, @Bind bindings: () -> [Bind] = { [] }) {
        self.identifier = CellIdentifier(identifier, version: version)
        self.size = size
        self.bindings = bindings()
    }

    /// Returns the cell with the screen that the command `Present` shows.
    public func presenting(_ presentation: Presentation) -> Cell {
        var cell = self
        cell.presentation = presentation
        return cell
    }

    /// Returns the cell with the URL that the command `Clickthrough` opens.
    ///
    /// ```swift
    /// Cell("CardCell", size: CellSize(width: 300, height: 200)) { Bind("text", text) }
    ///     .leading(to: website)
    /// ```
    public func leading(to destination: URL) -> Cell {
        var cell = self
        cell.destination = destination.absoluteString
        return cell
    }
}

/// The value of one part of a ``Cell``. A part without a value is left out.
///
/// ```swift
/// Bind("title", title)
/// Bind("portions", portions)
/// Bind("picture", image: picture, alternative: "A bowl of soup")
/// ```
@resultBuilder
public struct Bind: Sendable {
    private enum Content: Sendable {
        case value(CellBinding.Value)
        case image(String, CellSize?, ImageGeometry.Fit, alternative: String?)
    }

    let part: String
    private let content: Content?

    private init(part: String, _ content: Content?) {
        (self.part, self.content) = (part, content)
    }

    /// A text.
    public init(_ part: String, _ text: String?) {
        self.init(part: part, text.map { .value(.text($0)) })
    }

    /// A whole number.
    public init(_ part: String, _ number: Int?) {
        self.init(part: part, number.map { .value(.integer(Int64($0))) })
    }

    /// A number.
    public init(_ part: String, _ number: Double?) {
        self.init(part: part, number.map { .value(.number($0)) })
    }

    /// A date with its time.
    public init(_ part: String, date: Date?) {
        self.init(part: part, date.map { .value(.date($0.rfc3339)) })
    }

    /// A link that people can open.
    public init(_ part: String, link: URL?) {
        self.init(part: part, link.map { .value(.link($0.absoluteString)) })
    }

    /// A video or audio file.
    public init(_ part: String, media: URL?) {
        self.init(part: part, media.map { .value(.media($0.absoluteString)) })
    }

    /// An image, which clients load through the image proxy.
    ///
    /// - Parameters:
    ///   - size: The size of the box in points that shows the image; nil for the size of the cell.
    ///   - alternative: The text for people who do not see the image, empty for a decorative image; nil for the first text of the cell.
    public init(_ part: String, image: URL?, size: CellSize? = nil, fit: ImageGeometry.Fit = .fill(.centre), alternative: String? = nil) {
        self.init(part: part, image.map { .image($0.absoluteString, size, fit, alternative: alternative) })
    }

    /// A value of any type.
    public init(_ part: String, value: CellBinding.Value?) {
        self.init(part: part, value.map { .value($0) })
    }

    var type: String? {
        switch content {
        case .value(.text): "text"
        case .value(.number), .value(.integer): "number"
        case .value(.date): "date"
        case .value(.link): "link"
        case .value(.media): "media"
        case .image, .value(.image): "image"
        case .value(.custom), nil: nil
        }
    }

    fileprivate func binding(in cell: CellSize, titled title: String?, _ context: CellContext) -> CellBinding? {
        switch content {
        case .value(let value): return CellBinding(part, value)
        case .image(let source, let size, let fit, let alternative):
            let shape = ImageSizing.cell.shape(in: size ?? cell, fit)
            var image = context.links.image(source, shape.named(part), scale: context.scale, now: context.now)
            image.alternative = alternative ?? title
            return CellBinding(part, .image(image))
        case nil: return nil
        }
    }

    fileprivate var text: String? {
        if case .value(.text(let text)) = content { text } else { nil }
    }
}

extension ImageGeometry {
    fileprivate func named(_ part: String) -> ImageGeometry {
        var shape = self
        shape.part = part
        return shape
    }
}

extension Cell {
    func bindings(in context: CellContext) -> [CellBinding] {
        let title = bindings.lazy.compactMap(\.text).first
        return bindings.compactMap { $0.binding(in: size, titled: title, context) }
    }
}

// The statements of a cell's closure.
extension Bind {
    /// Returns a value as a list.
    public static func buildExpression(_ bind: Bind) -> [Bind] { [bind] }
    /// Returns all values.
    public static func buildBlock(_ parts: [Bind]...) -> [Bind] { parts.flatMap { $0 } }
    /// Returns the values of an `if`, or none.
    public static func buildOptional(_ parts: [Bind]?) -> [Bind] { parts ?? [] }
    /// Returns the values of the first branch.
    public static func buildEither(first parts: [Bind]) -> [Bind] { parts }
    /// Returns the values of the second branch.
    public static func buildEither(second parts: [Bind]) -> [Bind] { parts }
    /// Returns the values of a loop.
    public static func buildArray(_ parts: [[Bind]]) -> [Bind] { parts.flatMap { $0 } }
}
