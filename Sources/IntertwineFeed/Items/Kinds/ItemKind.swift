internal import IntertwinePrimitives

/// A kind of item: its name, its stream, and its validation.
///
/// The store and the assembler depend on kinds only through this protocol. Users and ads are two of its implementations.
public protocol ItemKind: Sendable {
    /// The value of the member `kind` of an item.
    var name: String { get }
    /// The stream that contains items of this kind.
    var stream: StreamID { get }

    /// The fields by which a section of these items can be sorted. Every item has a value for each of them.
    var sortFields: [SortField] { get }

    /// All fields of an item of this kind except `kind`, or nil if the kind does not declare them.
    ///
    /// Configuration that names fields before items exist, such as the mapping of a remote source, is validated against them.
    var fields: [ItemField]? { get }

    /// Validates the fields of an object whose `kind` is ``name``.
    ///
    /// ```swift
    /// func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
    ///     let id = try fields.text("id", limit: 64)
    ///     var body = ItemBody()
    ///     body.append("text", try fields.text("text", limit: 1_000))
    ///     return ValidatedItem(
    ///         kind: "note", stream: .content, id: String(decoding: id, as: UTF8.self), variant: "plain", body: body.finish())
    /// }
    /// ```
    ///
    /// - Throws: ``ItemError`` with the field and the reason.
    func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem

    /// Returns the JSON Schema (2020-12) of a valid item.
    func schema() -> [UInt8]
}

extension ItemKind {
    /// The default: no fields, so that a section of these items has the order of positions.
    public var sortFields: [SortField] { [] }
    /// The default: nil, because the kind does not declare its fields.
    public var fields: [ItemField]? { nil }

    /// An invalid value of an optional field is left out, so that it does not cost the item. An invalid schedule does: the item would be
    /// public too early or too long.
    package func validate(
        _ fields: ItemFields, leavingOut report: ((ItemError) -> Void)?
    ) throws(ItemError) -> ValidatedItem {
        try ItemSchedule.adding(fields, to: validateContent(fields, leavingOut: report))
    }

    private func validateContent(_ fields: ItemFields, leavingOut report: ((ItemError) -> Void)?) throws(ItemError) -> ValidatedItem {
        var fields = fields
        while true {
            do throws(ItemError) { return try validate(fields) } catch {
                guard let report, let name = error.path.first,
                    fields.object.members.contains(where: { fields.object.matches($0.name, name) }),
                    let field = self.fields?.first(where: { $0.name == name }), !field.isRequired
                else { throw error }
                report(error)
                fields = field.keepingValidElements(of: fields) ?? fields.removing(name)
            }
        }
    }

    /// Returns a schema that contains only the `kind`.
    public func schema() -> [UInt8] {
        ItemSchemaDocument(kind: name).bytes
    }
}

/// A field of a kind: its name, its requirement and the validation of its values.
public struct ItemField: Sendable {
    /// The name of the field in the import format.
    public let name: String
    /// True if every item must have the field.
    public let isRequired: Bool
    private let check: @Sendable (ItemFields) throws(ItemError) -> Void

    /// Creates a field.
    ///
    /// ```swift
    /// let text = ItemField("text", isRequired: true) { (fields) throws(ItemError) in
    ///     _ = try fields.text("text", limit: 1_000)
    /// }
    /// ```
    ///
    /// - Parameter check: reads the field from the fields of an item and throws the errors of the kind's validation.
    public init(_ name: String, isRequired: Bool = false, _ check: @escaping @Sendable (ItemFields) throws(ItemError) -> Void) {
        self.name = name
        self.isRequired = isRequired
        self.check = check
    }

    /// Validates a constant text for this field of all items.
    ///
    /// ```swift
    /// let cover = ItemField("coverUrl") { (fields) throws(ItemError) in _ = try fields.url("coverUrl") }
    /// try cover.validate("https://example.com/swing.png")
    /// ```
    ///
    /// - Throws: ``ItemError`` if no item can have this text.
    public func validate(_ text: String) throws(ItemError) {
        var bytes = [UInt8(ascii: "{")]
        bytes.append(jsonString: name.utf8)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(jsonString: text.utf8)
        bytes.append(UInt8(ascii: "}"))
        try check(ItemFields(bytes))
    }

    /// Returns the fields with the elements of this field's list that are valid alone, or with the first ones of too many; nil if there are
    /// none.
    fileprivate func keepingValidElements(of fields: ItemFields) -> ItemFields? {
        guard let token = try? fields.token(name), let elements = fields.elements(of: token),
            var alone = try? ItemFields(Array("{}".utf8))
        else { return nil }
        alone.base = fields.base
        func isValid(_ list: [ArraySlice<UInt8>]) -> Bool { (try? check(alone.replacing(name, withList: list))) != nil }
        let valid = elements.filter { !$0.isEmpty && isValid([$0]) }
        // Each element is valid alone, but not all of them together.
        var (count, bound) = valid.count == elements.count ? (0, valid.count) : (valid.count, 0)
        while bound - count > 1 {
            let middle = (count + bound) / 2
            if isValid(Array(valid[..<middle])) { count = middle } else { bound = middle }
        }
        return count == 0 ? nil : try? fields.replacing(name, withList: Array(valid[..<count]))
    }
}

package struct ItemKinds: Sendable {
    package static let standard = ItemKinds([UserKind(), AdvertisementKind()])

    private var kinds: [String: any ItemKind] = [:]
    private var variants: [String: Set<String>] = [:]
    package var note: String?

    package init(_ kinds: [any ItemKind]) {
        for kind in kinds { self.kinds[kind.name] = kind }
    }

    package func adding(_ kinds: [any ItemKind]) -> ItemKinds {
        var all = ItemKinds(Array(self.kinds.values) + kinds)
        (all.note, all.variants) = (note, variants)
        return all
    }

    package func requiring(variants: [String: Set<String>]) -> ItemKinds {
        var all = self
        all.variants.merge(variants) { $1 }
        return all
    }

    package subscript(name: String) -> (any ItemKind)? { kinds[name] }

    package var names: [String] { kinds.keys.sorted() }

    package func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        try validate(fields, leavingOut: nil)
    }

    package func validate(_ fields: ItemFields, leavingOut report: ((ItemError) -> Void)?) throws(ItemError) -> ValidatedItem {
        let name = try String(decoding: fields.text("kind", limit: 64), as: UTF8.self)
        guard let kind = kinds[name] else {
            throw ItemError(
                field: "kind",
                reason: "must be one of \(names.joined(separator: ", ")), is \(ItemError.quoted(Array(name.utf8)[...]))"
                    + (note.map { "; \($0)" } ?? ""))
        }
        let item = try kind.validate(fields, leavingOut: report)
        if let variants = variants[name], !variants.contains(item.variant) {
            let known = variants.sorted().map { "'\($0)'" }.joined(separator: ", ")
            throw ItemError(
                field: "type",
                reason: "no factory makes a cell of the type \(ItemError.quoted(Array(item.variant.utf8)[...])); there are \(known)",
                code: .unknown)
        }
        return item
    }

    package func validate(_ bytes: [UInt8]) throws(ItemError) -> ValidatedItem {
        try validate(ItemFields(JSONPreamble.text(bytes), isLenient: true))
    }
}
