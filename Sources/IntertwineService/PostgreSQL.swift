internal import IntertwineFeed
internal import IntertwineStorage
internal import IntertwineStorageCore

#if PostgreSQL
    internal import IntertwinePostgreSQL
#endif

// The only file of this module that uses PostgreSQL. The package trait `PostgreSQL` includes it, and with it the system library libpq.

/// A database that holds items, ledger and signing keys of all replicas.
protocol SharedDatabase: Sendable {
    var hasSeveralHosts: Bool { get }

    /// `maximumAge`: The age up to which pages are read from a standby while the primary is away; zero for never.
    func items(standby: (any SharedDatabase)?, maximumAge: Duration, companions: String) -> any ItemLocation

    func ledger(
        waiting: Int, group: Int, timeout: Double, reading: ReadLimits, beside items: (any ItemStore)?, now: (@Sendable () -> Int64)?
    ) throws(StoreError) -> any PersistentLedger

    func keys() throws(StoreError) -> any SharedKeys

    func store(_ key: SigningKey) throws(StoreError)

    func copyEndpoint() throws(StoreError) -> any CopySource & CopyDestination
}

protocol SharedKeys: Sendable {
    /// The time at which the newest key was created, in milliseconds since 1970-01-01 UTC.
    var newestCreation: Int64 { get }

    func load() throws -> SigningKeys

    func read() async throws -> SigningKeys

    /// `age`: The minimum age in seconds of a key made by a rotation.
    func rotate(after age: Int64) async throws
}

extension StoreSettings {
    func postgresDatabase(at address: String, statementTimeout: Duration) throws(StoreError) -> any SharedDatabase {
        #if PostgreSQL
            return PostgresDatabase(address: try PostgresAddress(address, statementTimeout: statementTimeout))
        #else
            throw .unusable("is the address of a PostgreSQL database, and this program was built without the package trait PostgreSQL")
        #endif
    }
}

#if PostgreSQL
    private struct PostgresDatabase: SharedDatabase {
        let address: PostgresAddress

        var hasSeveralHosts: Bool { address.hasSeveralHosts }

        func items(standby: (any SharedDatabase)?, maximumAge: Duration, companions: String) -> any ItemLocation {
            PostgresItemLocation(
                address, standby: (standby as? PostgresDatabase)?.address, maximumAge: maximumAge, companions: companions)
        }

        func ledger(
            waiting: Int, group: Int, timeout: Double, reading: ReadLimits, beside items: (any ItemStore)?, now: (@Sendable () -> Int64)?
        ) throws(StoreError) -> any PersistentLedger {
            try PostgresLedger(address, waiting: waiting, group: group, timeout: timeout, reading: reading, beside: items, now: now)
        }

        func keys() throws(StoreError) -> any SharedKeys { try PostgresSigningKeys(address) }

        func store(_ key: SigningKey) throws(StoreError) { try PostgresSigningKeys.store(key, at: address) }

        func copyEndpoint() throws(StoreError) -> any CopySource & CopyDestination { try PostgresCopyEndpoint(address) }
    }

    extension PostgresSigningKeys: SharedKeys {}
#endif

extension ServiceSamples {
    var connections: [MetricSample] {
        #if PostgreSQL
            func sample(_ name: String, _ kind: MetricSample.Kind, _ help: String, _ value: Double, _ label: (String, String)? = nil)
                -> MetricSample
            {
                MetricSample("intertwine_postgresql_\(name)", kind, help, labels: label.map { [$0] } ?? [], value)
            }
            var (sessions, samples): ([(String, Int)], [MetricSample]) = ([], [])
            if let items = (store as? PostgresFeedStore)?.connectionStatistics {
                sessions.append(("items", items.sessions))
                samples.append(
                    sample(
                        "listener_up", .gauge, "1 if the session that receives notifications of changes is alive.",
                        items.isListening ? 1 : 0))
                if let standby = items.standby {
                    sessions.append(("standby", standby.sessions))
                    samples.append(sample("standby_up", .gauge, "1 if the standby responds.", standby.lag == nil ? 0 : 1))
                    if let lag = standby.lag {
                        samples.append(
                            sample(
                                "replication_lag_seconds", .gauge,
                                "Age of the last change that the standby has replayed; 0 if it has all changes that this process has seen.",
                                lag / .seconds(1)))
                    }
                    let help = "Reads of items from the standby, by the age of their data."
                    samples.append(sample("standby_reads_total", .counter, help, Double(standby.reads), ("data", "current")))
                    samples.append(sample("standby_reads_total", .counter, help, Double(standby.degraded), ("data", "degraded")))
                }
            }
            if let ledger = (ledger as? PostgresLedger)?.connectionStatistics {
                sessions.append(("ledger", ledger.sessions))
                samples.append(sample("max_sessions", .gauge, "max_connections of the PostgreSQL server.", Double(ledger.maxSessions)))
                if let offset = ledger.clockOffset {
                    samples.append(
                        sample(
                            "clock_offset_seconds", .gauge,
                            "Seconds by which the clock of this machine is ahead of the PostgreSQL server's.",
                            Double(offset) / 1_000))
                }
            }
            return samples
                + sessions.map { sample("sessions", .gauge, "Open sessions with PostgreSQL servers.", Double($0.1), ("purpose", $0.0)) }
        #else
            return []
        #endif
    }
}
