/// A cell of a declared kind, with everything found and checked that the declaration names.
struct DeclaredCell: Sendable {
    let identifier: String
    let size: SizeRule
    var conditions: [CellCondition]
    let bindings: [(part: String, source: BindingSource)]
    /// Nil for the first cell of an item.
    let companion: String?

    /// The cell as items of a type see it: without the conditions that ask for the type. Nil where one of them rules the type out.
    func narrowed(to variant: String) -> DeclaredCell? {
        guard conditions.allSatisfy({ $0.admits(variant: variant) }) else { return nil }
        var cell = self
        cell.conditions.removeAll { $0.reference == .variant }
        return cell
    }
}
