extension CommandKey {
    /// What the ledger calls the performance of a slot.
    var occurrence: LedgerEvent.Kind {
        switch self {
        case .impression: .impression
        case .deselection: .deselection
        case .dismissal: .dismissal
        // The client performs the first two by itself; where a command of theirs is run on the server, it is because of a selection.
        case .configuration, .cancellation, .selection: .selection
        }
    }
}
