/// The types of bindings and of actions that a client knows; all where it says nothing of them.
///
/// They are said once, in the list that names its cells: `(text image date);bindings, (request link);actions`.
package struct SupportedCellTypes: Sendable, Hashable {
    /// Types that one list can name.
    static let limit = 64

    /// Nil for all.
    var bindings: Set<String>?
    /// Nil for all. Filling a cell is what every client does.
    var actions: Set<String>?

    var knowsAll: Bool { bindings == nil && actions == nil }

    /// In one spelling for all that mean the same; empty where nothing is said.
    var lists: [String] {
        [("bindings", bindings), ("actions", actions)].compactMap { name, types in
            types.map { "(\($0.sorted().joined(separator: " ")));\(name)" }
        }
    }

    func knows(binding type: String) -> Bool { bindings?.contains(type) ?? true }

    /// The types that a cell has and that are not known, in order.
    func missing(in viewModel: CellViewModel) -> [String] {
        if knowsAll { return [] }
        var missing: Set<String> = []
        for slot in viewModel.commands.keys {
            guard let action = viewModel.action(in: slot) else { continue }
            if case .bind(let bindings) = action {
                for binding in bindings where !knows(binding: binding.value.type) { missing.insert(binding.value.type) }
            } else if actions?.contains(action.type) == false {
                missing.insert(action.type)
            }
        }
        return missing.sorted()
    }
}

extension Action {
    /// What clients tell it by.
    var type: String {
        switch self {
        case .bind: "bind"
        case .request: "request"
        case .link: "link"
        case .custom(let type, _): type
        }
    }
}

extension Binding.Value {
    /// What clients tell it by.
    var type: String {
        switch self {
        case .text: "text"
        case .image: "image"
        case .custom(let type, _): type
        }
    }
}

extension BindingDeclaration.BindingFormat {
    /// What clients tell its values by.
    var type: String { rawValue }
}
