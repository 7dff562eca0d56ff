/// The types of bindings and actions that a client supports. A client that sends no list supports all.
///
/// The lists are part of the `Accept-Cells` header: `(text image date);bindings, (request link);actions`.
package struct SupportedCellTypes: Sendable, Hashable {
    /// The maximum number of types in a list.
    package static let limit = 64

    /// The supported types of bindings; nil for all.
    package var bindings: Set<String>?
    /// The supported types of actions; nil for all. Every client supports the action `bind`, which is not listed.
    package var actions: Set<String>?

    package init() {}

    var knowsAll: Bool { bindings == nil && actions == nil }

    /// The canonical form of the lists, equal for lists of equal meaning; empty if the client sent none.
    package var lists: [String] {
        [("bindings", bindings), ("actions", actions)].compactMap { name, types in
            types.map { "(\($0.sorted().joined(separator: " ")));\(name)" }
        }
    }

    func knows(binding type: String) -> Bool { bindings?.contains(type) ?? true }

    /// Returns the types in a cell that are not supported, in alphabetical order.
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
    /// The name of the action type in JSON.
    var type: String {
        switch self {
        case .bind: "bind"
        case .request: "request"
        case .link: "link"
        case .custom(let type, _): type
        }
    }
}

extension CellBinding.Value {
    /// The name of the binding type in JSON.
    var type: String {
        switch self {
        case .text: "text"
        case .image: "image"
        case .date: "date"
        case .number, .integer: "number"
        case .link: "link"
        case .media: "media"
        case .custom(let type, _): type
        }
    }
}
