internal import IntertwinePostgreSQL

extension ServiceSamples {
    var connections: [MetricSample] {
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
    }
}
