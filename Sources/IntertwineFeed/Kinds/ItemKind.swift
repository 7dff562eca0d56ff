internal import IntertwinePrimitives

/// One kind of item: what its import format's `klass` is called, where its items go, and what a valid one looks like.
///
/// The store and the assembler know kinds through this alone. Users and advertisements are two of them.
public protocol ItemKind: Sendable {
    /// The `klass` of the import format.
    var name: String { get }
    /// Where items of this kind stand in the feed.
    var stream: StreamID { get }

    /// The fields that a section of such items can be ordered by: those that every item has.
    var sortFields: [SortField] { get }

    /// All fields that an item of this kind can have besides `klass`; nil where the kind does not tell.
    ///
    /// What names fields before there are items, as the mapping of a remote source does, is checked by them.
    var fields: [ItemField]? { get }

    /// Checks the fields of one object whose `klass` is ``name``.
    ///
    /// - Throws: ``ItemError`` with the field and the reason.
    func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem

    /// What a valid item looks like, as a JSON Schema (2020-12).
    func schema() -> [UInt8]
}

extension ItemKind {
    public var sortFields: [SortField] { [] }
    public var fields: [ItemField]? { nil }

    /// Tells the `klass` alone.
    public func schema() -> [UInt8] {
        ItemSchemaDocument(kind: name).bytes
    }
}

/// A field of a kind: what it is called, whether an item must have it, and which of its values are allowed.
public struct ItemField: Sendable {
    public let name: String
    public let isRequired: Bool
    private let check: @Sendable (ItemFields) throws(ItemError) -> Void

    /// - Parameter check: reads the field from an item's fields, and throws as the kind's validation would.
    public init(_ name: String, isRequired: Bool = false, _ check: @escaping @Sendable (ItemFields) throws(ItemError) -> Void) {
        self.name = name
        self.isRequired = isRequired
        self.check = check
    }

    /// Checks a text that every item is to have in this field.
    ///
    /// - Throws: ``ItemError`` where no item can have it.
    public func validate(_ text: String) throws(ItemError) {
        var bytes = [UInt8(ascii: "{")]
        bytes.append(jsonString: name.utf8)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(jsonString: text.utf8)
        bytes.append(UInt8(ascii: "}"))
        try check(ItemFields(bytes))
    }
}

/// The kinds of item that a service knows, by `klass`.
public struct ItemKinds: Sendable {
    /// Users and advertisements.
    public static let standard = ItemKinds([UserKind(), AdvertisementKind()])

    private var kinds: [String: any ItemKind] = [:]
    /// What whoever misses a kind is told: where others are declared.
    public var note: String?

    /// Where two kinds have one name, the last holds.
    public init(_ kinds: [any ItemKind]) {
        for kind in kinds { self.kinds[kind.name] = kind }
    }

    /// These kinds and others. Where two have one name, the last holds.
    public func adding(_ kinds: [any ItemKind]) -> ItemKinds {
        var all = ItemKinds(Array(self.kinds.values) + kinds)
        all.note = note
        return all
    }

    public subscript(name: String) -> (any ItemKind)? { kinds[name] }

    public var names: [String] { kinds.keys.sorted() }

    /// Checks one object of the import format, whatever its kind.
    public func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let klass = try fields.text("klass", limit: 64)
        guard let kind = kinds[String(decoding: klass, as: UTF8.self)] else {
            throw ItemError(
                field: "klass",
                reason: "must be one of \(names.joined(separator: ", ")), is \(ItemError.quoted(klass))" + (note.map { "; \($0)" } ?? ""))
        }
        return try kind.validate(fields)
    }

    /// The same for the bytes of one JSON object.
    public func validate(_ bytes: [UInt8]) throws(ItemError) -> ValidatedItem {
        try validate(ItemFields(bytes))
    }
}
