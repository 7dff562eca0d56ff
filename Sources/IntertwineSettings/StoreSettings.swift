/// The settings `store.*` of the databases and of the data folder.
public struct StoreSettings: Sendable {
    /// The database of the items: a file or the address of a PostgreSQL database.
    ///
    /// The folder of a file is the data folder, with the ledger, the signing key and the image cache. A PostgreSQL database also contains the ledger
    /// and the signing key.
    public var database = "data/intertwine.sqlite"
    /// The address of a hot standby of that database; empty for none. Items are read from it if it is as recent as the replica's last read.
    public var readDatabase = ""
    /// The data folder of a replica with a PostgreSQL database (`server.data-folder`). Replicas on one machine need different folders.
    public var dataFolder = "data"
    /// The age up to which pages are read from a standby while the primary is away; zero for never.
    public var degradedReads: Duration = .zero
    /// The number of threads that read the items, and also of those that read the ledger.
    public var readers = 4
    /// The maximum number of queued reads. Beyond it, the response is 503.
    public var queue = 4_096
    /// The queue timeout: the time a request waits for a reader before its response is 503.
    public var queueTimeout: Duration = .seconds(2)
    /// The time limit of a statement on a PostgreSQL server. After it, a waiting request gets 503.
    public var statementTimeout: Duration = .seconds(4)
    /// A Boolean value indicating whether a start continues if a file of the store is missing, older than the others, or of another store.
    ///
    /// It is no setting, because it applies to one start only.
    public var acceptsDataLoss = false

    public init() {}
}

/// The settings `ledger.*` of the durable record of events.
public struct LedgerSettings: Sendable {
    /// The maximum number of queued writes. Beyond it, the response is 503.
    public var queue = 4_096
    /// The maximum number of writes in one transaction.
    public var batchSize = 512
    /// The write timeout: the time a request waits for the disk before its response is 503.
    public var writeTimeout: Duration = .seconds(5)
    /// The retention of single events. Their daily totals are stored without a limit.
    public var retention: Duration = .seconds(400 * 86_400)

    public init() {}
}

/// The settings `signing.*`: the keys that sign cursors, click tokens and image URLs.
public struct SigningSettings: Sendable {
    /// The key in 64 hexadecimal digits; empty for the key in the data folder, which the first start creates.
    public var key = ""
    /// The previous key, accepted while links with its signature are in use; empty for none.
    public var previousKey = ""

    public init() {}
}
