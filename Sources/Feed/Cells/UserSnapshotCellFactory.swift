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
            identifier = "UserSnapshotCollectionViewCell"
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
