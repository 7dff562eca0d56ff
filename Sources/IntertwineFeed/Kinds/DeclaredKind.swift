package struct DeclaredKind: ItemKind {
    package let declaration: KindDeclaration
    let cells: [CellLayout: [DeclaredCell]]
    let screen: DeclaredScreen?
    let destination: FieldReference?
    let author: FieldReference?
    private let record: DeclaredFields

    package var name: String { record.name }
    package var stream: StreamID { record.stream }
    package var sortFields: [SortField] {
        record.sortFields + declaration.lists.compactMap { $0.countField.flatMap { SortField($0.name, .number) } }
    }
    package var fields: [ItemField]? { record.fields }
    package var prefix: String { declaration.prefix ?? declaration.name }

    package init(_ declaration: KindDeclaration) throws(KindError) {
        let compiler = try KindCompiler(declaration)
        var record = compiler.record
        cells = try compiler.cells()
        screen = try compiler.screen()
        destination = try compiler.destination()
        author = try compiler.author()
        record.idField = try compiler.idField()
        record.focus = declaration.focus
        self.record = record
        self.declaration = declaration
    }

    package func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem { try record.validate(fields) }

    package func schema() -> [UInt8] { record.schema() }
}
