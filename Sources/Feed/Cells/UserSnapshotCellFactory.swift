/// Shows a user with background, avatar and name.
public struct UserSnapshotCellFactory: CellViewModelFactory {
    public let identifier = "UserSnapshotCollectionViewCell"
    private let size = CellSize(width: 300, height: 200)
    private let plan: CommandPlan

    /// - Parameter plan: what the cell's slots do, besides configuration.
    public init(plan: CommandPlan) {
        self.plan = plan
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
            identifier: identifier, size: size, commands: plan.commands(configuration: BindCommand(bindings)), subject: subject)
    }
}
