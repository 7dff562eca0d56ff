/// The settings `store.*` of the databases and of the data folder.
///
/// ```swift
/// var store = StoreSettings()
/// store.database = "/var/lib/intertwine/items.sqlite"
/// store.readers = 8
/// store.queueTimeout = .seconds(1)
/// ```
public struct StoreSettings: Sendable {
    /// The database of the items (`store.database`): a file or the address of a PostgreSQL database. The default is
    /// `data/intertwine.sqlite`.
    ///
    /// The folder of a file is the data folder, with the ledger, the signing key and the image cache. A PostgreSQL database also contains
    /// the ledger and the signing key.
    public var database = "data/intertwine.sqlite"
    /// The address of a hot standby of that database (`store.read-database`). The default is empty, for none.
    ///
    /// Items are read from it if it is as recent as the replica's last read.
    public var readDatabase = ""
    /// The data folder of a replica with a PostgreSQL database (`server.data-folder`). The default is `data`.
    ///
    /// Replicas on one machine need different folders.
    public var dataFolder = "data"
    /// The age up to which pages are read from a standby while the primary is unavailable (`store.degraded-reads`), up to one day.
    ///
    /// The default of zero disables such reads.
    public var degradedReads: Duration = .zero
    /// The number of threads that read the items, and also of those that read the ledger (`store.readers`), from 1 to 64. The default is 4.
    public var readers = 4
    /// The maximum number of queued reads (`store.queue`). Beyond it, the response is 503. The default is 4 096.
    public var queue = 4_096
    /// The time a request waits for a reader before its response is 503 (`store.queue-timeout`), from 100 ms to 60 s. The default is 2 s.
    public var queueTimeout: Duration = .seconds(2)
    /// The time limit of a statement on a PostgreSQL server (`store.statement-timeout`), from 100 ms to 600 s. The default is 4 s.
    ///
    /// After it, a waiting request gets 503.
    public var statementTimeout: Duration = .seconds(4)
    /// True if a start continues although a file of the store is missing, older than the others, or of another store.
    ///
    /// No setting key exists for it, because it applies to one start only. The default is false.
    public var acceptsDataLoss = false

    /// Creates settings with the default values.
    public init() {}
}

/// The settings `ledger.*` of the durable record of events.
///
/// ```swift
/// var ledger = LedgerSettings()
/// ledger.batchSize = 1_024
/// ledger.retention = .seconds(90 * 86_400)
/// ```
public struct LedgerSettings: Sendable {
    /// The maximum number of queued writes (`ledger.queue`). Beyond it, the response is 503. The default is 4 096.
    public var queue = 4_096
    /// The maximum number of writes in one transaction (`ledger.batch-size`), from 1 to 10 000. The default is 512.
    public var batchSize = 512
    /// The time a request waits for the disk before its response is 503 (`ledger.write-timeout`), from 100 ms to 60 s. The default is 5 s.
    public var writeTimeout: Duration = .seconds(5)
    /// The retention of single events (`ledger.retention`), at least one day. The default is 400 d.
    ///
    /// Their daily totals are stored without a limit.
    public var retention: Duration = .seconds(400 * 86_400)

    /// Creates settings with the default values.
    public init() {}
}

/// The settings `signing.*`: the keys that sign cursors, click tokens and image URLs.
///
/// ```swift
/// var signing = SigningSettings()
/// if let key = ProcessInfo.processInfo.environment["FEED_SIGNING_KEY"] { signing.key = key }
/// ```
public struct SigningSettings: Sendable {
    /// The key in 64 hexadecimal digits (`signing.key`). The default is empty, for the key in the data folder.
    ///
    /// The first start creates the key in the data folder.
    public var key = ""
    /// The previous key, accepted while links with its signature are in use (`signing.previous-key`). The default is empty, for none.
    public var previousKey = ""

    /// Creates settings without keys, so that the key in the data folder is used.
    public init() {}
}
