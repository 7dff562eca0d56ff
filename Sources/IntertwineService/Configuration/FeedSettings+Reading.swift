internal import IntertwineFeed

extension FeedSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("feed.page-cache", &pageCache)
        reader.read("feed.cell-cache", &cellCache)
        reader.read("feed.max-staleness", &maxStaleness, in: .zero ... .seconds(3_600))
        reader.read("feed.max-age", &maxAge)
        reader.read("ads.per-page", &adsPerPage, in: 0...20)
        reader.read("ads.scope", &adScope)
        reader.read("ads.placement", &adPlacement)
        reader.read("ads.rotation", &adRotation)
        reader.read("ads.min-distance", &adSpacing.creative, in: AdSpacing.limits.creative)
        reader.read("ads.min-label-distance", &adSpacing.label, in: AdSpacing.limits.label)
        reader.read("ads.viewability.image", &imageViewability)
        reader.read("ads.viewability.video", &videoViewability)
        reader.read("ads.viewability.audio", &audioViewability)
        Self.read("cells.ad.video", &videoCell, by: &reader)
        Self.read("cells.ad.audio", &audioCell, by: &reader)
        reader.read("cells.user.regular", &regularUserCell)
        reader.read("cells.user.featured", &featuredUserCell)
    }

    private static func read(_ key: String, _ cell: inout MediaCell, by reader: inout SettingsReader) {
        let isIdentifier = { (text: String) in (1...128).contains(text.utf8.count) }
        reader.read("\(key).identifier", &cell.identifier, allowed: "1 to 128 bytes", where: isIdentifier)
        reader.read("\(key).table-identifier", &cell.tableIdentifier, allowed: "1 to 128 bytes", where: isIdentifier)
        reader.read("\(key).width", &cell.width, in: 1...4_096)
        reader.read("\(key).height", &cell.height, in: 1...4_096)
        reader.read("\(key).table-height", &cell.tableHeight, in: 1...4_096)
    }
}

extension ActionSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("actions.user.selection", &userSelection)
        reader.read("actions.user.dismissal", &userDismissal)
        reader.read("actions.ad.selection", &adSelection)
        reader.read("actions.ad.dismissal", &adDismissal)
        reader.read("actions.on-failure", &onFailure)
        reader.read("actions.undo-window", &undoWindow)
    }
}

extension EventSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("ads.count-clicks", &countedClicks)
        reader.read("events.address", &address)
        reader.read("events.click-window", &clickWindow)
        reader.read("events.click-rate", &clickRate, in: 1...1_000_000)
        reader.read("events.impression-rate", &impressionRate, in: 1...1_000_000)
        reader.read(
            "events.token-lifetime", &tokenLifetime, allowed: "\(Duration.allowed), at least 1h", where: { $0 >= .seconds(3_600) })
        reader.read("events.robots-file", &robotsFile, allowed: "a file's path")
        reader.read("events.report-verdict", &reportsVerdict)
    }
}

extension FeedSettings {
    var placement: any AdPlacement {
        adPlacement.placement(perPage: adsPerPage, isOfFeed: adScope == .feed)
    }

    func with(_ ads: DeclaredAds?) -> FeedSettings {
        guard let ads else { return self }
        var settings = self
        settings.adPlacement = ads.rule ?? adPlacement
        settings.adsPerPage = ads.perPage ?? adsPerPage
        settings.adScope = ads.isOfFeed.map { $0 ? .feed : .page } ?? adScope
        return settings
    }
}

extension ServiceConfiguration {
    var cells: CellConfiguration {
        var cells = CellConfiguration(hasViewers: viewers.canBeNamed)
        cells.userCells = [.regular: feed.regularUserCell, .featured: feed.featuredUserCell]
        cells.mediaCells = [.video: feed.videoCell, .audio: feed.audioCell]
        cells.viewability = [.image: feed.imageViewability, .video: feed.videoViewability, .audio: feed.audioViewability]
        cells.userCommands[.selection] = SlotCommands(actions.userSelection, policy: actions.onFailure)
        cells.userCommands[.dismissal] = SlotCommands(actions.userDismissal, policy: actions.onFailure)
        cells.advertisementCommands[.selection] = SlotCommands(actions.adSelection, policy: actions.onFailure)
        cells.advertisementCommands[.dismissal] = SlotCommands(actions.adDismissal, policy: actions.onFailure)
        return cells
    }
}
