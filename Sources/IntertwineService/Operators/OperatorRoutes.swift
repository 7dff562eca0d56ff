internal import IntertwineObservability
internal import IntertwineRouting

/// The admin API, as one list of routes.
struct OperatorRoutes: Sendable {
    let parts: ServiceParts
    let live: LiveComposition
    let settings: AdminSettings
    let database: String

    var routes: [Route] {
        let items = ItemRoutes(store: parts.store, kinds: parts.kinds).routes
        let imports = ImportRoutes(database: database, kinds: parts.kinds, settings: settings).routes
        let pictures = PurgeRoutes(manager: parts.pictures.manager).routes
        let operations = OperationRoutes(store: parts.store, kinds: parts.kinds).routes
        let takedowns = TakedownRoutes(store: parts.store, kinds: parts.kinds).routes
        let reports = ReportRoutes(archive: parts.ledger, prefixes: parts.advertisementPrefixes).routes
        return items + takedowns + operations + imports + pictures + reports + ExplainRoutes(live: live, kinds: parts.kinds).routes
            + SourceRoutes(polling: parts.sources).routes
    }
}
