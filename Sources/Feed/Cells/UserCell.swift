/// The cells that can show a user; which type of user gets which is configuration.
public enum UserCell: String, Sendable, Hashable, CaseIterable {
    case snapshot, circular

    func makeFactory(plan: CommandPlan, layout: CellLayout) -> any CellViewModelFactory {
        switch self {
        case .snapshot: UserSnapshotCellFactory(plan: plan, layout: layout)
        case .circular: CircularUserCellFactory(plan: plan, layout: layout)
        }
    }
}
