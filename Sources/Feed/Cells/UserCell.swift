/// The cells that can show a user; which type of user gets which is configuration.
public enum UserCell: String, Sendable, Hashable, CaseIterable {
    case snapshot, circular

    func makeFactory(plan: CommandPlan) -> any CellViewModelFactory {
        switch self {
        case .snapshot: UserSnapshotCellFactory(plan: plan)
        case .circular: CircularUserCellFactory(plan: plan)
        }
    }
}
