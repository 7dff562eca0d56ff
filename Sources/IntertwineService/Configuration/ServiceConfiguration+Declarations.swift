internal import Foundation
package import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage

extension ServiceConfiguration {
    /// Checks the configuration without opening a store: the values, the commands of actions, and the files `kinds.file`, `sources.file` and
    /// `images.fallbacks`.
    ///
    /// ```swift
    /// try configuration.check(extensions)
    /// ```
    ///
    /// - Throws: `ConfigurationError` with all faults.
    public func check(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) {
        _ = try declarations(extensions)
    }

    /// Reads the settings, and checks them completely.
    ///
    /// ```swift
    /// let sources = try SettingSources(file: "Config/intertwine.yaml")
    /// let configuration = try ServiceConfiguration.checked(sources, extensions)
    /// ```
    ///
    /// - Throws: `ConfigurationError` with all faults of the settings and of the files that they name.
    public static func checked(
        _ sources: SettingSources, _ extensions: ServiceExtensions = ServiceExtensions()
    ) throws(ConfigurationError) -> ServiceConfiguration {
        var (configuration, wrong) = read(sources)
        guard let wrong else { return configuration }
        // Checks against values that could not be read are skipped.
        if wrong.reasons.contains(where: { $0.hasPrefix("sources.") }) { configuration.sources.file = "" }
        var faults = ErrorCollector()
        faults.reasons += wrong.reasons
        faults.collect { try configuration.check(extensions) }
        throw ConfigurationError(faults.reasons) ?? wrong
    }

    func declarations(
        _ extensions: ServiceExtensions = ServiceExtensions(), environment: [String: String]? = nil
    ) throws(ConfigurationError) -> Declarations {
        var faults = ErrorCollector()
        faults.collect { try validate() }
        faults.collect { _ = try images.fallbackImages() }
        let registry = faults.collect { try extensions.registry() }
        let text = faults.collect { try kindsText() } ?? nil
        let file = kindsFile(of: text, extensions, errors: &faults)
        if let registry {
            // Settings are checked one at a time, so that each invalid one is reported.
            for cells in cells.alone {
                faults.collect { _ = try Self.factories(cells, commands: registry) }
            }
            faults.collect {
                var factories = CellFactories()
                try file.register(in: &factories, commands: registry, hasViewers: cells.hasViewers)
            }
        }
        let factories =
            registry.flatMap { registry in
                faults.collect { try cellFactories(extensions, commands: registry, kinds: file) }
            } ?? CellFactories()
        let campaigns = faults.collect { try campaignsFile(file, extensions) } ?? nil
        let kinds = itemKinds(extensions, file, campaigns, factories)
        let sources = faults.collect {
            try remoteSources(of: kinds, broken: file.broken, environment: environment)
        }
        faults.collect { try checkPinnedAds(file.feeds) }
        faults.collect { _ = try robotNames() }
        try faults.finish()
        return Declarations(
            kindsText: text, feeds: file.feeds, languages: file.languages, advertisementPrefixes: file.advertisementPrefixes,
            registry: registry ?? .standard, kinds: kinds, sources: sources ?? [])
    }

    package func itemKinds(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) -> ItemKinds {
        let file = try kindsFile(extensions)
        // The actions and cells of the file must name existing commands and cells.
        let isStandard = kinds.file.isEmpty && extensions.kinds.isEmpty && extensions.faults.isEmpty
        let factories = try ConfigurationError.wrap {
            isStandard ? CellFactories() : try cellFactories(extensions, commands: extensions.registry(), kinds: file)
        }
        return itemKinds(extensions, file, try campaignsFile(file, extensions), factories)
    }

    /// The ids of the store's campaigns must differ from those of the file and from names of sources of ads.
    private func itemKinds(
        _ extensions: ServiceExtensions, _ file: KindsFile, _ campaigns: CampaignsFile?, _ factories: CellFactories
    ) -> ItemKinds {
        let campaignKind = CampaignKind(
            places: file.feeds.validTargets, creatives: creatives(file, extensions), declared: Set(campaigns?.campaigns.map(\.id) ?? []),
            file: self.campaigns.file, sources: Set(extensions.adSources.map(\.name)))
        return standardKinds.adding(extensions.kinds + file.kinds + [campaignKind]).requiring(
            variants: factories.variants(of: extensions.kinds))
    }

    /// Imports lines of items into the store, all of them or none.
    ///
    /// ```swift
    /// try configuration.importItems(Array(#"{"kind":"card","id":"1","text":"Hello"}"#.utf8), extensions)
    /// ```
    ///
    /// - Throws: An error with the number of the line if an item is invalid, and those of a store that cannot be written.
    public func importItems(_ lines: [UInt8], _ extensions: ServiceExtensions = ServiceExtensions()) throws {
        let importer = try store.items().importer(kinds: try itemKinds(extensions), policy: .stop, limit: .max) { _ in }
        try importer.append(lines)
        try importer.endOfFile()
        _ = try importer.commit()
    }

    func robotNames() throws(ConfigurationError) -> RobotNames {
        guard !events.robotsFile.isEmpty else { return RobotNames() }
        let text = try YAMLFile.text(at: events.robotsFile, of: "events.robots-file")
        do {
            return try RobotNames(extendedBy: text)
        } catch {
            throw ConfigurationError("events.robots-file: \(events.robotsFile):\(error.line): a name needs at least 3 bytes")
        }
    }

    func campaignsFile(
        _ kinds: KindsFile, _ extensions: ServiceExtensions = ServiceExtensions()
    ) throws(ConfigurationError) -> CampaignsFile? {
        guard !campaigns.file.isEmpty else { return nil }
        try checkCampaignTargets(kinds.feeds)
        let root = try YAMLFile.root(at: campaigns.file, of: "campaigns.file")
        return try ConfigurationError.wrap {
            try CampaignsFile(root, targets: kinds.feeds.validTargets, creatives: creatives(kinds, extensions))
        }
    }

    /// Throws if no feed has ad slots for campaigns, because all ads are pinned.
    private func checkCampaignTargets(_ feeds: DeclaredFeeds) throws(ConfigurationError) {
        let hasPlaces = ([DeclaredFeeds.mainName] + feeds.feeds.keys).contains { name in
            let own = feed.with(feeds.ads[name])
            let sections = feeds.feeds[name].map { names in feeds.sections.filter { names.contains($0.name) } } ?? []
            // Undeclared sections have the settings of the feed.
            return ([DeclaredAds()] + sections.map(\.ads)).contains { own.with($0).placement.supply != .pinned }
        }
        guard !hasPlaces else { return }
        throw ConfigurationError(
            "campaigns.file: campaigns have no ad slots with ads.placement: pinned; set the placement of ads, a feed or a section to midpoint, "
                + "every or at")
    }

    func checkPinnedAds(_ feeds: DeclaredFeeds) throws(ConfigurationError) {
        let names = feeds.feeds.isEmpty ? [DeclaredFeeds.mainName: [DeclaredFeeds.mainName]] : feeds.feeds
        var ordered: [String] = []
        for section in feeds.sections where section.order.field != nil && section.ads.rule == nil && section.ads.perPage != 0 {
            let isListed = names.contains { name, sections in
                let own = feed.with(feeds.ads[name])
                return sections.contains(section.name) && own.adPlacement == .pinned && (section.ads.perPage ?? own.adsPerPage) > 0
            }
            if isListed { ordered.append(section.name) }
        }
        guard !ordered.isEmpty else { return }
        throw ConfigurationError(
            "ads.placement: pinned shows no ads in sections that a field orders: \(ordered.joined(separator: ", ")); give each its own "
                + "placement, or ads: 0")
    }

    package func declaredCampaigns() throws(ConfigurationError) -> [Campaign] {
        try campaignsFile(kindsFile(ServiceExtensions()))?.campaigns ?? []
    }

    package func checkPlacements(feed: String, section: String?) throws(ConfigurationError) {
        let feeds = try kindsFile(ServiceExtensions()).feeds
        let names = feeds.validTargets.feeds
        guard names.contains(feed) else {
            throw ConfigurationError("--feed: no feed '\(feed)'; there are \(names.joined(separator: ", "))")
        }
        let sections = feeds.feeds[feed] ?? []
        guard let section, !sections.contains(section) else { return }
        let known = sections.isEmpty ? "sections" : "section '\(section)'; there are \(sections.joined(separator: ", "))"
        throw ConfigurationError("--section: '\(feed)' has no \(known)")
    }

    package func placement(feed name: String, section: String?) throws(ConfigurationError) -> any AdPlacement {
        let feeds = try kindsFile(ServiceExtensions()).feeds
        let own = feed.with(feeds.ads[name])
        return feeds.sections.first { $0.name == section }?.placement(own) ?? own.placement
    }

    package func checkStoredCampaigns() async throws -> [String] {
        let kinds = try kindsFile(ServiceExtensions())
        let file = try campaignsFile(kinds)
        let inventory = campaignInventory(kinds.feeds)
        func unchecked(_ reason: String) -> [String] {
            guard let file else { return [] }
            return ["campaigns.file: not checked against the store: \(reason)"]
                + file.campaigns.compactMap { campaign in
                    campaign.blockage(in: inventory, now: WallClock.now()).map { Self.line(blocked: campaign.id, $0) }
                } + Self.lines(on: file.campaigns)
        }
        do {
            let items = try store.items()
            guard items.isThere else { return unchecked("there is no store yet (\(items.shown))") }
            guard try hasCurrentDatabases() else { return unchecked("the next start creates its tables (\(items.shown))") }
            let campaigns = try storedCampaigns(file, kinds)
            let opened = try items.open(reading: ReadLimits())
            let findings = try await campaigns.findings(in: opened)
            if let error = file?.errors(findings) { throw error }
            return findings.gone.map {
                "campaigns.file: \($0.campaign): the store has no ad '\($0.creative)', and it is left out"
            }
                + (try await campaigns.blockages(in: opened, now: WallClock.now())).map { Self.line(blocked: $0.campaign, $0.reason) }
                + Self.lines(on: try await campaigns.campaignIndex(of: opened)?.campaigns ?? [])
                + campaigns.orphans.map {
                    "warning: an operator has overridden the campaign '\($0)', which the file does not declare; DELETE its override"
                }
        } catch let error as StoreError {
            return unchecked("\(error)")
        }
    }

    private static func lines(on campaigns: [Campaign]) -> [String] {
        Campaign.notices(on: campaigns, at: WallClock.now()).map { "warning: the campaign '\($0.campaign)' \($0.reason)" }
            + campaigns.compactMap { campaign in
                campaign.override.map {
                    "warning: the campaign '\(campaign.id)' is \($0.rawValue) by an operator, whatever the file declares"
                }
            }
    }

    private static func line(blocked campaign: String, _ reason: String) -> String {
        "warning: the campaign '\(campaign)' is blocked: \(reason)"
    }

    package func campaignInventory(hasAttributes: Bool) throws(ConfigurationError) -> CampaignInventory {
        campaignInventory(try kindsFile(ServiceExtensions()).feeds, hasAttributes: hasAttributes)
    }

    private func campaignInventory(_ feeds: DeclaredFeeds, hasAttributes: Bool = false) -> CampaignInventory {
        let lanes = Dictionary(
            ([DeclaredFeeds.mainName] + feeds.sections.map(\.name) + feeds.feeds.values.joined()).map { ($0, StreamID.content) },
            uniquingKeysWith: { first, _ in first })
        return CampaignInventory(
            feeds.sources(streams: lanes, settings: feed), placement: { feed.with(feeds.ads[$0]).placement },
            hasAttributes: hasAttributes || viewers.canHaveAttributes, hasViewers: viewers.canBeNamed,
            countsUnseenClicks: events.countedClicks == .all, filters: feeds.filters)
    }

    package func campaignFigures(_ ledger: any CampaignLedger, now: Int64) async throws -> [String: CampaignStatistics] {
        guard let (campaigns, items) = try storedCampaigns() else { return [:] }
        return try await campaigns.figures(in: items, ledger, now: now)
    }

    package func campaignReport(byOwnDays days: ClosedRange<Int>, _ ledger: any LedgerArchive) async throws -> LedgerReport {
        guard let (campaigns, items) = try storedCampaigns() else {
            throw ConfigurationError("the zones of campaigns are in the store, and there is none; set store.database, or --database")
        }
        return try await campaigns.report(byOwnDays: days, of: ledger, in: items)
    }

    /// The campaigns that name a house ad. An import without the field `house` makes one of each ad that it replaces.
    package func campaignsOfHouseAds() async throws -> [String] {
        guard let (campaigns, items) = try storedCampaigns() else { return [] }
        return try await campaigns.blockages(in: items, now: WallClock.now()).filter { $0.reason.hasPrefix("creatives: ") }.map {
            Self.line(blocked: $0.campaign, $0.reason)
        }
    }

    private func storedCampaigns() throws -> (Campaigns, any ItemStore)? {
        let items = try store.items()
        guard items.isThere else { return nil }
        let kinds = try kindsFile(ServiceExtensions())
        return (try storedCampaigns(campaignsFile(kinds), kinds), try items.open(reading: ReadLimits()))
    }

    private func storedCampaigns(_ file: CampaignsFile?, _ kinds: KindsFile) throws -> Campaigns {
        let factories = try cellFactories(ServiceExtensions(), commands: ServiceExtensions().registry(), kinds: kinds)
        return Campaigns(
            file?.campaigns ?? [], factories: factories, delivery: AdServer(ledger: nil), inventory: campaignInventory(kinds.feeds))
    }

    private func creatives(_ file: KindsFile, _ extensions: ServiceExtensions) -> CreativeNames {
        CreativeNames(file.kinds.map { ($0.prefix, $0.name, $0.stream) }, hasOthers: !extensions.kinds.isEmpty)
    }

    private var standardKinds: ItemKinds {
        var kinds = ItemKinds.standard
        kinds.note =
            self.kinds.file.isEmpty ? "kinds.file, the file that declares others, is not set" : "others are declared in \(self.kinds.file)"
        return kinds
    }

    package func sectionPlans(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) -> [SectionConfiguration] {
        try kindsFile(extensions).feeds.plans
    }

    /// Returns the prefixes of the cell ids of advertisements, before the colon. Reports by advertisement count these cells.
    ///
    /// - Throws: `ConfigurationError` if the file of kinds is invalid.
    public func advertisementPrefixes(_ extensions: ServiceExtensions = ServiceExtensions()) throws(ConfigurationError) -> [String] {
        try kindsFile(extensions).advertisementPrefixes
    }

    private func kindsFile(_ extensions: ServiceExtensions) throws(ConfigurationError) -> KindsFile {
        try kindsFile(of: kindsText(), extensions)
    }

    private func kindsText() throws(ConfigurationError) -> String? {
        kinds.file.isEmpty ? nil : try YAMLFile.text(at: kinds.file, of: "kinds.file")
    }

    func kindsFile(of text: String?, _ extensions: ServiceExtensions) throws(ConfigurationError) -> KindsFile {
        var faults = ErrorCollector()
        let file = kindsFile(of: text, extensions, errors: &faults)
        try faults.finish()
        return file
    }

    private func kindsFile(of text: String?, _ extensions: ServiceExtensions, errors: inout ErrorCollector) -> KindsFile {
        let root = text.flatMap { text in errors.collect { try YAMLFile.root(of: text, from: kinds.file) } }
        guard let root else { return .none }
        return KindsFile(
            root, policy: actions.onFailure, besides: standardKinds.adding(extensions.kinds + [CampaignKind()]), errors: &errors)
    }
}

extension ServiceConfiguration {
    func cellFactories(
        _ extensions: ServiceExtensions, commands registry: CommandRegistry, kinds file: KindsFile
    ) throws(ConfigurationError) -> CellFactories {
        var cells = cells
        cells.labels = file.labels
        cells.advertisementAlternative = file.advertisement
        var factories = try Self.factories(cells, commands: registry)
        try ConfigurationError.wrap {
            try extensions.registerCells(&factories, registry)
            for case let kind as any CellKind in extensions.kinds {
                try kind.register(in: &factories, commands: registry, hasViewers: cells.hasViewers)
            }
        }
        try file.register(in: &factories, commands: registry, hasViewers: cells.hasViewers)
        if let error = ConfigurationError(extensions.cellErrors(in: factories)) { throw error }
        return factories
    }

    private static func factories(_ cells: CellConfiguration, commands registry: CommandRegistry) throws(ConfigurationError)
        -> CellFactories
    {
        do {
            return try .standard(cells, commands: registry)
        } catch {
            throw (error as? CellCommandsError).map(ConfigurationError.init) ?? ConfigurationError("\(error)")
        }
    }
}

extension CellConfiguration {
    var alone: [CellConfiguration] {
        [\CellConfiguration.userCommands, \.advertisementCommands].flatMap { kind in
            CommandKey.standard.compactMap { slot in
                self[keyPath: kind][slot].map { commands in
                    var cells = self
                    (cells.userCommands, cells.advertisementCommands) = ([:], [:])
                    cells[keyPath: kind][slot] = commands
                    return cells
                }
            }
        }
    }
}

extension ConfigurationError {
    fileprivate init(_ error: CellCommandsError) {
        func key(_ kind: String, _ slot: CommandKey) -> String { "actions.\(kind).\(slot.rawValue)" }
        switch error {
        case .unknownCommand(_, let kind, let slot, _), .fixedSlot(let slot, let kind),
            .unusableSlot(let slot, let kind, _), .unusableInput(let slot, let kind, _):
            self.init("\(key(kind, slot)): \(error)")
        case .unmetNeeds(_, let needs, let kind, let slot):
            let hint = needs.contains(.viewer) ? ": viewers.header is empty" : ""
            self.init("\(key(kind, slot)): \(error)\(hint)")
        case .registeredTwice: self.init("\(error)")
        }
    }
}

extension DeclaredFeeds {
    var validTargets: ValidTargets {
        ValidTargets(feeds: Array(Set([Self.mainName] + feeds.keys)).sorted(), sections: Array(Set(feeds.values.joined())).sorted())
    }
}
