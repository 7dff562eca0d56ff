/// One kind of item: what its import format's `klass` is called, where its items go, and what a valid one looks like.
///
/// The store and the assembler know kinds through this alone. Users and advertisements are two of them.
public protocol ItemKind: Sendable {
    /// The `klass` of the import format.
    var name: String { get }
    /// Where items of this kind stand in the feed.
    var lane: Lane { get }

    /// The fields that a section of such items can be ordered by: those that every item has.
    var sortFields: [SortField] { get }

    /// All fields that an item of this kind can have besides `klass`; nil where the kind does not tell.
    ///
    /// What names fields before there are items, as the mapping of a remote source does, is checked by them.
    var fields: [ItemField]? { get }

    /// Checks the fields of one object whose `klass` is ``name``.
    ///
    /// - Throws: ``ItemFault`` with the field and the reason.
    func validate(_ fields: ItemFields) throws(ItemFault) -> ValidItem

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
