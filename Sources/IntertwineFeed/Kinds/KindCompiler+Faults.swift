extension DeclaredKind {
    /// All that is wrong with a declaration, for whoever has to mend it: what ``init(_:)`` throws is the first of it.
    public static func faults(in declaration: KindDeclaration) -> [KindFault] {
        let first: KindFault
        do {
            _ = try DeclaredKind(declaration)
            return []
        } catch {
            first = error
        }
        guard let compiler = try? KindCompiler(declaration) else { return [first] }
        let faults = compiler.faults()
        return faults.contains(first) ? faults : [first] + faults
    }
}

extension KindCompiler {
    /// What is wrong with each part by itself.
    fileprivate func faults() -> [KindFault] {
        var faults: [KindFault] = []
        func note<Value>(_ body: () throws(KindFault) -> Value) {
            do { _ = try body() } catch { faults.append(error) }
        }
        for layout in CellLayout.allCases {
            for (index, cell) in (declaration.cells[layout] ?? []).enumerated() {
                let path = ["cells", layout.rawValue, "\(index)"]
                var bare = cell
                (bare.bindings, bare.conditions) = ([], [])
                note { () throws(KindFault) in try self.cell(bare, at: path) }
                for condition in cell.conditions {
                    note { () throws(KindFault) in try self.condition(condition, at: path + ["when", condition.field]) }
                }
                for binding in cell.bindings { note { () throws(KindFault) in try sources([binding], at: path + ["bind"]) } }
            }
        }
        for argument in declaration.presentation?.arguments ?? [] {
            note { () throws(KindFault) in try sources([argument], at: ["presentation", "arguments"]) }
        }
        note(destination)
        note(idField)
        return faults
    }
}
