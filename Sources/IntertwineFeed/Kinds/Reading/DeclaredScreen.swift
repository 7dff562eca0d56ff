/// The screen that cells of a declared kind open, with everything found and checked that the declaration names.
struct DeclaredScreen: Sendable {
    let type: String
    let screen: String
    let arguments: [(name: String, source: BindingSource)]

    func presentation(of values: inout FieldValues, in context: CellContext) throws(ItemFault) -> Presentation {
        var read: [Presentation.Argument] = []
        read.reserveCapacity(arguments.count)
        for (name, source) in arguments {
            if let text = try source.text(of: &values, in: context) { read.append(Presentation.Argument(name, text)) }
        }
        return Presentation(type: type, screen: screen, arguments: read)
    }
}
