package struct CellConfiguration: Sendable {
    package var userCells: [User.Variant: UserCell] = [.regular: .snapshot, .featured: .circular]

    package var userCommands: [CommandKey: SlotCommands] = [
        .cancellation: ["cancel-images"],
        .selection: ["analytics", "present"],
        .deselection: ["analytics"],
    ]

    package var advertisementCommands: [CommandKey: SlotCommands] = [
        .cancellation: ["cancel-images"],
        .selection: ["analytics", "clickthrough"],
        .impression: ["analytics"],
    ]

    var playbackCommands: SlotCommands = ["analytics"]

    package var mediaCells: [Advertisement.Variant: MediaCell] = [.video: .video, .audio: .audio]

    package var viewability: [Advertisement.Variant: Viewability] = [:]

    package var labels: [CommandKey: LocalizedText] = [:]

    package var advertisementAlternative = LocalizedText("Advertisement")

    package var hasViewers: Bool

    package init(hasViewers: Bool = true) {
        self.hasViewers = hasViewers
        if hasViewers {
            userCommands[.dismissal] = ["analytics", "dismiss"]
            advertisementCommands[.dismissal] = ["analytics", "dismiss"]
        }
    }
}

extension CellConfiguration {
    fileprivate func labelled(_ slots: [CommandKey: SlotCommands]) -> [CommandKey: SlotCommands] {
        var slots = slots
        for (slot, label) in labels { slots[slot]?.label = label }
        return slots
    }
}

extension CellFactories {
    package static func standard(
        _ configuration: CellConfiguration = CellConfiguration(), commands registry: CommandRegistry = .standard
    ) throws -> CellFactories {
        let viewer: CommandRequirements = configuration.hasViewers ? .viewer : []
        let users = try CellCommands(
            kind: "user", slots: configuration.labelled(configuration.userCommands), registry: registry, offers: viewer.union(.presentation)
        )
        func plan(of variant: Advertisement.Variant) throws -> CellCommands {
            var slots = configuration.labelled(configuration.advertisementCommands)
            let isPlayed = variant != .image && !configuration.playbackCommands.commands.isEmpty
            if isPlayed { for slot in CommandKey.playback { slots[slot] = configuration.playbackCommands } }
            return try CellCommands(
                kind: Advertisement.kind, slots: slots, registry: registry, offers: viewer.union(.destination),
                reported: isPlayed ? CommandKey.playback : [],
                viewability: configuration.viewability[variant] ?? Viewability())
        }
        let advertisements = try plan(of: .image)
        let media = try configuration.mediaCells.filter { $0.key != .image }.map { ($0.key, $0.value, try plan(of: $0.key)) }
        var factories = CellFactories()
        let image = ItemType(kind: Advertisement.kind, variant: Advertisement.Variant.image.rawValue)
        for layout in CellLayout.allCases {
            for variant in User.Variant.allCases {
                guard let cell = configuration.userCells[variant] else { continue }
                try factories.register(
                    cell.makeFactory(plan: users, layout: layout), for: ItemType(kind: "user", variant: variant.rawValue), prefix: "user",
                    layout: layout)
            }
            try factories.register(
                AdvertisementCellFactory(
                    plan: advertisements, layout: layout, alternative: configuration.advertisementAlternative),
                for: image, prefix: "ad", stream: .advertisements, layout: layout)
            for (variant, cell, plan) in media {
                try factories.register(
                    MediaAdvertisementCellFactory(
                        cell, plan: plan, layout: layout, alternative: configuration.advertisementAlternative),
                    for: ItemType(kind: Advertisement.kind, variant: variant.rawValue), prefix: "ad", stream: .advertisements,
                    layout: layout)
            }
            try factories.register(
                SectionHeaderCellFactory(layout: layout), for: ItemType(kind: SectionHeader.kind, variant: ""), prefix: SectionHeader.kind,
                layout: layout)
        }
        return factories
    }
}

/// The cells that can show a user, by identifier. The configuration assigns them to user types.
public enum UserCell: String, Sendable, Hashable, CaseIterable {
    /// A cell with background, avatar and name.
    case snapshot = "UserSnapshotCollectionViewCell"
    /// A cell with a round avatar and name.
    case circular = "CircularUserCollectionViewCell"

    fileprivate func makeFactory(plan: CellCommands, layout: CellLayout) -> any CellViewModelFactory {
        switch self {
        case .snapshot: UserSnapshotCellFactory(plan: plan, layout: layout)
        case .circular: CircularUserCellFactory(plan: plan, layout: layout)
        }
    }
}

struct UserSnapshotCellFactory: CellViewModelFactory {
    private let cell: StandardCell
    private let avatar: ImageSizing
    private let background: ImageSizing
    var identifier: String { cell.identifier }

    init(plan: CellCommands, layout: CellLayout = .collection) {
        avatar = layout == .collection ? .square(0.25) : .square(0.6)
        cell = StandardCell(
            layout, plan: plan, collection: UserCell.snapshot.rawValue,
            SizeRule(CellSize(width: 300, height: 200, textHeight: 24), fraction: 0.8, aspectRatio: 1.5, minimum: 150, maximum: 600),
            table: "UserTableViewCell", height: 100)
        background = layout == .collection ? ImageSizing(width: .ofWidth(1), height: .ofHeight(0.72)) : .cell
    }

    func makeViewModel(for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel {
        try cell.makeViewModel(forUser: item, cell: id, in: context, avatar: avatar, background: background)
    }
}

struct CircularUserCellFactory: CellViewModelFactory {
    private let cell: StandardCell
    private let avatar: ImageSizing
    var identifier: String { cell.identifier }

    init(plan: CellCommands, layout: CellLayout = .collection) {
        avatar = layout == .collection ? .square(0.63) : .square(0.7)
        cell = StandardCell(
            layout, plan: plan, collection: UserCell.circular.rawValue,
            SizeRule(
                CellSize(width: 300, height: 190, textHeight: 24), fraction: 0.8, aspectRatio: 300.0 / 190, minimum: 150, maximum: 600),
            table: "CircularUserTableViewCell", height: 80)
    }

    func makeViewModel(for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel {
        try cell.makeViewModel(forUser: item, cell: id, in: context, avatar: avatar, background: nil)
    }
}

package struct AdvertisementCellFactory: CellViewModelFactory, ReportingFactory {
    var plan: CellCommands { cell.plan }
    private let cell: StandardCell
    private let alternative: LocalizedText
    package var identifier: String { cell.identifier }

    package init(plan: CellCommands, layout: CellLayout = .collection, alternative: LocalizedText = LocalizedText("Advertisement")) {
        self.alternative = alternative
        cell = StandardCell(
            layout, plan: plan, collection: "AdvertisementCollectionViewCell",
            SizeRule(CellSize(width: 220, height: 220), fraction: 0.6, aspectRatio: 1, minimum: 110, maximum: 440),
            table: "AdvertisementTableViewCell", height: 220)
    }

    package func makeViewModel(for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel {
        let advertisement = try Advertisement(item: item)
        return cell.makeViewModel(
            filledWith: [
                CellBinding(
                    "content",
                    .image(
                        cell.image(
                            advertisement.contentURL, .cell, .fit, part: "content", in: context,
                            alternativeText: advertisement.alternative ?? alternative[context.language])
                    ))
            ],
            subject: CommandSubject(cell: id, item: item, destination: advertisement.clickthroughURL, context: context))
    }
}

private struct StandardCell: Sendable {
    let identifier: String
    private let size: SizeRule
    let plan: CellCommands

    init(
        _ layout: CellLayout, plan: CellCommands, collection: String, _ collectionSize: SizeRule, table: String, height: Double
    ) {
        (identifier, size) = layout == .collection ? (collection, collectionSize) : (table, .row(height: height))
        self.plan = plan
    }

    func makeViewModel(filledWith bindings: @autoclosure () -> [CellBinding], subject: CommandSubject) -> CellViewModel {
        CellViewModel(
            identifier: identifier, size: size.size(width: subject.context.width),
            commands: plan.filled(by: BindCommand(subject.context.rendersContent ? bindings() : [])), subject: subject)
    }

    /// Cropping keeps its most salient part, because it usually is a face.
    func makeViewModel(
        forUser item: FeedItem, cell: String, in context: CellContext, avatar: ImageSizing, background: ImageSizing?
    ) throws -> CellViewModel {
        let user = try User(item: item)
        func bindings() -> [CellBinding] {
            var bindings = [
                CellBinding("username", .text(user.username)),
                CellBinding(
                    "avatar",
                    .image(
                        image(
                            user.avatarURL, avatar, .fill(.attention), part: "avatar", in: context,
                            alternativeText: user.avatarAlternative ?? user.username))),
            ]
            if let background, let url = user.backgroundURL {
                // Without an alternative text, the background is decorative, so the text is empty.
                let alternativeText = user.backgroundAlternative ?? ""
                bindings.append(
                    CellBinding(
                        "background",
                        .image(image(url, background, .fill(.centre), part: "background", in: context, alternativeText: alternativeText))))
            }
            return bindings
        }
        let (username, source) = (user.username, user.avatarURL)
        return makeViewModel(
            filledWith: bindings(),
            subject: CommandSubject(
                cell: cell, item: item,
                presentation: .imageZoom(username: username, image: context.links.image(source, now: context.now)), context: context))
    }

    func image(
        _ source: String, _ rule: ImageSizing, _ fit: ImageGeometry.Fit, part: String, in context: CellContext,
        alternativeText: String
    ) -> ImageBinding {
        var shape = rule.shape(in: size.size(width: context.width), fit)
        shape.part = part
        var image = context.links.image(source, shape, scale: context.scale, now: context.now)
        image.alternative = alternativeText
        return image
    }
}
