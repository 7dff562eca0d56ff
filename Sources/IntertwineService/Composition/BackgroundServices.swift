internal import IntertwineStorage
internal import ServiceLifecycle

extension ServiceBuilder {
    func backgroundServices(
        _ live: ReloadableApplication, _ stores: OpenStores, _ parts: ProcessParts, _ listeners: ServiceListeners
    ) -> [any ServiceLifecycle.Service] {
        let clock = stores.clock
        let (store, ledger) = (stores.store, stores.ledger)
        let checks: [@Sendable () -> FileChange?] = [{ store.storageChange() }, { ledger.storageChange() }]
        var services: [any ServiceLifecycle.Service] = [
            DatabaseWatch(checks, logger: logger),
            parts.subscribers, CampaignRefresh(delivery: parts.delivery, now: clock, logger: logger),
        ]
        services += stores.servedFiles.map { DatabaseCheck(file: $0.file) } + parts.tokenServices
        services += [
            parts.schedules.service(of: live),
            TakedownMonitor(store: store, live: live, images: parts.images.takedowns, now: clock, logger: logger),
            LedgerRetention(archive: ledger, retention: { live.configuration.ledger.retention }, now: clock, logger: logger),
            LedgerTotals(archive: ledger, logger: logger), listeners.trackers,
            ItemCounts(store, ledger, live.current.factories, stores.location.leadership(in: .counts), logger),
        ]
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
        services.append(
            parts.polling.recorded { name, outcome in
                try await listeners.audit?.record(who: "source:\(name)", method: "sync", path: name, now: clock) { $0.record(outcome) }
            })
        services.append(parts.rankers)
        return services
    }
}
