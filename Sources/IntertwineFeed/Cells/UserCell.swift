/// The cells that can show a user, by their identifiers; which type of user gets which is configuration.
public enum UserCell: String, Sendable, Hashable, CaseIterable {
    case snapshot = "UserSnapshotCollectionViewCell"
    case circular = "CircularUserCollectionViewCell"

    func makeFactory(plan: CommandPlan, layout: CellLayout) -> any CellViewModelFactory {
        switch self {
        case .snapshot: UserSnapshotCellFactory(plan: plan, layout: layout)
        case .circular: CircularUserCellFactory(plan: plan, layout: layout)
        }
    }
}

/// Shows a user with background, avatar and name.
public struct UserSnapshotCellFactory: CellViewModelFactory {
    public let identifier: String
    private let size: SizeRule
    private let plan: CommandPlan

    /// - Parameter plan: what the cell's slots do, besides configuration.
    public init(plan: CommandPlan, layout: CellLayout = .collection) {
        self.plan = plan
        switch layout {
        case .collection:
            identifier = UserCell.snapshot.rawValue
            size = SizeRule(CellSize(width: 300, height: 200), fraction: 0.8, aspectRatio: 1.5, minimum: 150, maximum: 600)
        case .table:
            identifier = "UserTableViewCell"
            size = .row(height: 100)
        }
    }

    public func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let user = try User(item: item)
        let avatar = context.links.image(user.avatarURL, now: context.now)
        var bindings: [Binding] = [Binding("username", .text(user.username)), Binding("avatar", .image(avatar))]
        if let background = user.backgroundURL {
            bindings.append(Binding("background", .image(context.links.image(background, now: context.now))))
        }
        let subject = CommandSubject(
            cell: cell, item: item, presentation: .imageZoom(username: user.username, image: avatar), context: context)
        return CellViewModel(
            identifier: identifier, size: size.size(width: context.width), commands: plan.commands(configuration: BindCommand(bindings)),
            subject: subject)
    }
}

/// Shows a user with a round avatar and name.
public struct CircularUserCellFactory: CellViewModelFactory {
    public let identifier: String
    private let size: SizeRule
    private let plan: CommandPlan

    /// - Parameter plan: what the cell's slots do, besides configuration.
    public init(plan: CommandPlan, layout: CellLayout = .collection) {
        self.plan = plan
        switch layout {
        case .collection:
            identifier = UserCell.circular.rawValue
            size = SizeRule(CellSize(width: 300, height: 190), fraction: 0.8, aspectRatio: 300.0 / 190, minimum: 150, maximum: 600)
        case .table:
            identifier = "CircularUserTableViewCell"
            size = .row(height: 80)
        }
    }

    public func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let user = try User(item: item)
        let avatar = context.links.image(user.avatarURL, now: context.now)
        let bindings = [Binding("username", .text(user.username)), Binding("avatar", .image(avatar))]
        let subject = CommandSubject(
            cell: cell, item: item, presentation: .imageZoom(username: user.username, image: avatar), context: context)
        return CellViewModel(
            identifier: identifier, size: size.size(width: context.width), commands: plan.commands(configuration: BindCommand(bindings)),
            subject: subject)
    }
}
