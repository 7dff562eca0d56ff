/// Shows a user with a round avatar and name.
public struct CircularUserCellFactory: CellViewModelFactory {
    public let identifier = "CircularUserCollectionViewCell"
    private let size = CellSize(width: 300, height: 190)
    private let plan: CommandPlan

    /// - Parameter plan: what the cell's slots do, besides configuration.
    public init(plan: CommandPlan) {
        self.plan = plan
    }

    public func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let user = try User(item: item)
        let avatar = context.links.image(user.avatarURL, now: context.now)
        let bindings = [Binding("username", .text(user.username)), Binding("avatar", .image(avatar))]
        let subject = CommandSubject(
            cell: cell, item: item, presentation: .imageZoom(username: user.username, image: avatar), context: context)
        return CellViewModel(
            identifier: identifier, size: size, commands: plan.commands(configuration: BindCommand(bindings)), subject: subject)
    }
}
