/// A kind of item that configuration declares. The store and the assembler treat it like a kind that is implemented in Swift.
///
/// The initializer resolves and validates all names of the declaration and compiles its templates.
package struct DeclaredKind: ItemKind {
    package let declaration: KindDeclaration
    let cells: [CellLayout: [DeclaredCell]]
    let screen: DeclaredScreen?
    let destination: FieldReference?
    private let record: DeclaredFields

    package var name: String { record.name }
    package var stream: StreamID { record.stream }
    package var sortFields: [SortField] { record.sortFields }
    package var fields: [ItemField]? { record.fields }
    /// The prefix of cell ids.
    package var prefix: String { declaration.prefix ?? declaration.name }

    /// Compiles a declaration.
    ///
    /// - Throws: ``KindError`` for the first error in the declaration.
    package init(_ declaration: KindDeclaration) throws(KindError) {
        let compiler = try KindCompiler(declaration)
        var record = compiler.record
        cells = try compiler.cells()
        screen = try compiler.screen()
        destination = try compiler.destination()
        record.idField = try compiler.idField()
        self.record = record
        self.declaration = declaration
    }

    /// - Throws: ``ItemError`` with the field and the reason.
    package func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem { try record.validate(fields) }

    package func schema() -> [UInt8] { record.schema() }
}
