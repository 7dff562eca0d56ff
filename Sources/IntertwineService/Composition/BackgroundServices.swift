internal import IntertwineOperators
internal import IntertwineStorage
internal import IntertwineSync
internal import ServiceLifecycle

extension ServiceBuilder {
    /// Returns the services that run beside the listeners.
    func backgroundServices(
        _ live: ReloadableApplication, _ stores: OpenStores, _ parts: ProcessParts, _ listeners: ServiceListeners
    ) -> [any ServiceLifecycle.Service] {
        let clock = stores.clock
        var checks: [@Sendable () -> FileChange?] = []
        if let store = stores.ownStore { checks.append { store.storageChange() } }
        if let ledger = stores.ownLedger { checks.append { ledger.storageChange() } }
        var services: [any ServiceLifecycle.Service] = [
            DatabaseWatch(checks, logger: logger),
            parts.subscribers, CampaignQuotaSync(delivery: parts.delivery, now: clock, logger: logger),
        ]
        services += stores.servedFiles.map { DatabaseCheck(file: $0.file) } + parts.tokenServices
        if let store = stores.ownStore {
            services.append(TakedownMonitor(store: store, live: live, images: parts.images.takedowns, now: clock, logger: logger))
        }
        if let archive = stores.archive {
            services.append(
                LedgerRetention(archive: archive, retention: { live.configuration.ledger.retention }, now: clock, logger: logger))
            services.append(LedgerTotals(archive: archive, logger: logger))
        }
        if let trackers = listeners.trackers { services.append(trackers) }
        if stores.ring.mayChange {
            services.append(
                KeyRefresher(
                    ring: stores.ring,
                    changed: { keys in
                        parts.images.useKeys(keys)
                        try await live.renew()
                        listeners.accessLog.forgetAddresses()
                    }, logger: logger))
        }
        if let polling = parts.polling {
            services.append(
                polling.recorded { name, outcome in
                    try await listeners.audit?.record(who: "source:\(name)", method: "sync", path: name, now: clock) { $0.record(outcome) }
                })
        }
        return services
    }
}
