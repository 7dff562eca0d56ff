internal import Foundation
package import IntertwineFeed
internal import IntertwinePostgreSQL
internal import IntertwinePrimitives
internal import IntertwineStorage
package import IntertwineStorageCore

/// The settings `store.*` of the databases and of the data folder.
public struct StoreSettings: Sendable, SettingsSection {
    @Setting(
        "server.data-folder",
        "Folder of caches and audit log, if store.database is not a file. It is created if missing. Each replica has its own.",
        allowed: "a folder's path", where: { !$0.isEmpty })
    public var dataFolder = "data"
    // SQLite treats some names as no file, and the ledger must be beside the file. A URL may contain a password.
    @Setting(
        "store.database",
        """
        SQLite file of the items. Its folder also contains ledger, signing key and caches. Alternatively a database that replicas share, \
        such as postgresql://user@db1,db2/intertwine?target_session_attrs=read-write, with the password in PGPASSFILE.
        """, allowed: allowedDatabases, hidden: mayHoldPassword, where: isDatabase)
    public var database = "data/intertwine.sqlite"
    @Setting(
        "store.read-database",
        """
        A hot standby of that database. Items are read from it while it has every change that the replica has made or been notified of; \
        otherwise, or if it does not respond, from the database itself. Empty, or postgresql://user@db2/intertwine.
        """, allowed: "postgresql://…, or empty", hidden: mayHoldPassword, where: { $0.isEmpty || Self.isAddress($0) })
    public var readDatabase = ""
    @Setting(
        "store.degraded-reads",
        """
        Age up to which pages are served from a standby while the primary is away, such as 10min. Such a page has the field Age. Writes \
        and all other requests get 503. Requires several hosts in database, or read-database. 0ms for never.
        """, in: .zero ... .seconds(86_400))
    public var degradedReads: Duration = .zero
    @Setting(
        "store.readers", "Threads that read the items, and as many that read the ledger. Reads of operators use at most half of them.",
        in: 1...64)
    public var readers = 4
    @Setting("store.queue", "Reads of either file that may wait for a thread at once; beyond it the response is 503.", in: 1...1_000_000)
    public var queue = 4_096
    @Setting(
        "store.queue-timeout", "Queue timeout: how long a request may wait for a thread before it gets 503.",
        in: .milliseconds(100) ... .seconds(60))
    public var queueTimeout: Duration = .seconds(2)
    @Setting(
        "store.statement-timeout",
        """
        Timeout of a statement of a PostgreSQL server; the statement is then ended and the request gets 503. One more second if the server \
        does not respond at all. Imports have no timeout.
        """, in: .milliseconds(100) ... .seconds(600))
    public var statementTimeout: Duration = .seconds(4)
    /// True if a start continues although a file of the store is missing, older than the others, or of another store.
    ///
    /// No setting key exists for it, because it applies to one start only. The default is false.
    public var acceptsDataLoss = false

    func check(_ faults: inout SettingFaults) {
        if let fault = addressError { faults.check(false, "store.database: \(fault)") }
        // No name of a ledger can be derived from some of these, and read-only commands would find nothing there.
        faults.check(!isFolder, "store.database: \(database) is a folder, not a database")
        faults.check(
            readDatabase.isEmpty || Self.isAddress(database),
            "store.read-database: requires a PostgreSQL database in store.database")
        if let fault = standbyError { faults.check(false, "store.read-database: \(fault)") }
        faults.check(
            degradedReads == .zero || hasStandby,
            "store.degraded-reads: requires a second host in the address of store.database, or store.read-database")
    }

    static func isAddress(_ text: String) -> Bool { text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") }

    static let allowedDatabases = "a file's path, neither :memory: nor a URL, or postgresql://…"

    static func isDatabase(_ text: String) -> Bool {
        Self.isAddress(text)
            || !text.isEmpty && text != ":memory:" && !isFileURL(text) && !text.contains("://") && !isListOfKeywords(text)
    }

    static func mayHoldPassword(_ text: String) -> Bool { text.contains("://") && !isFileURL(text) || isListOfKeywords(text) }

    /// Returns true for a list of keywords such as `host=db1 password=…`, which libpq accepts and which would also be a valid file name.
    private static func isListOfKeywords(_ text: String) -> Bool {
        text.split(whereSeparator: \.isWhitespace).contains { word in
            guard let end = word.firstIndex(of: "=") else { return false }
            return ["host", "hostaddr", "port", "dbname", "user", "password", "service"].contains(word[..<end])
        }
    }

    private static func isFileURL(_ text: String) -> Bool { text.lowercased().hasPrefix("file:") }

    private var isFolder: Bool {
        guard !Self.isAddress(database) else { return false }
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: database, isDirectory: &isFolder)
        let name = database.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        return ["", ".", ".."].contains(name) || isThere && isFolder.boolValue
    }

    var reading: ReadLimits { ReadLimits(threads: readers, waiting: queue, queueTimeout: queueTimeout) }

    private var addressError: StoreError? {
        do throws(StoreError) {
            _ = try sharedDatabase()
            return nil
        } catch {
            return error
        }
    }

    private var standbyError: StoreError? {
        do throws(StoreError) {
            _ = try standby()
            return nil
        } catch {
            return error
        }
    }

    private var hasStandby: Bool {
        Self.isAddress(readDatabase) || ((try? sharedDatabase()) ?? nil)?.hasSeveralHosts == true
    }

    /// Returns the standby's address with a short timeout. Why: if the standby does not respond, reads continue on the primary without a long delay.
    private func standby() throws(StoreError) -> PostgresAddress? {
        Self.isAddress(readDatabase)
            ? try PostgresAddress(readDatabase, statementTimeout: min(statementTimeout, .seconds(2))) : nil
    }

    func sharedDatabase() throws(StoreError) -> PostgresAddress? {
        Self.isAddress(database) ? try PostgresAddress(database, statementTimeout: statementTimeout) : nil
    }

    /// The path of the ledger: `intertwine.ledger.sqlite` beside `intertwine.sqlite`. Why: a long import never delays a click.
    var ledgerDatabase: String {
        let url = URL(fileURLWithPath: database)
        let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        return url.deletingPathExtension().path + ".ledger" + suffix
    }

    /// A replica's folder is created for its user only; the folder of a file is created only if its name is `data`. Why: another missing
    /// folder is more likely a typing error. If the creation fails, the error is reported by the code that opens a file in the folder.
    package func makeDataFolder() {
        let (folder, isReplica) = (folderURL, Self.isAddress(database))
        guard isReplica || folder.lastPathComponent == "data" else { return }
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: isReplica ? [.posixPermissions: 0o700] : nil)
    }

    package func path(of name: String) -> String {
        folderURL.appendingPathComponent(name).path
    }

    private var folderURL: URL {
        Self.isAddress(database) ? URL(fileURLWithPath: dataFolder) : URL(fileURLWithPath: database).deletingLastPathComponent()
    }

    package var location: String {
        let file = URL(fileURLWithPath: database).standardizedFileURL.path
        return Self.isAddress(database) ? (try? items().shown) ?? "(secret)" : file
    }

    package func items() throws(StoreError) -> any ItemLocation {
        guard let shared = try sharedDatabase() else { return ItemFile(database) }
        return PostgresItemLocation(shared, standby: try standby(), maximumAge: degradedReads, companions: path(of: "items"))
    }
}

/// The settings `ledger.*` of the durable record of events.
public struct LedgerSettings: Sendable, SettingsSection {
    @Setting(
        "ledger.queue", "Clicks, selections and events that may wait for the disk at once; beyond it the response is 503.",
        in: 1...1_000_000)
    public var queue = 4_096
    @Setting(
        "ledger.batch-size",
        "Maximum number of them in one transaction. With 1, each has its own transaction and waits for the disk alone.", in: 1...10_000)
    public var batchSize = 512
    @Setting(
        "ledger.write-timeout", "Timeout of one of them while another process keeps the file locked; then 503.",
        in: .milliseconds(100) ... .seconds(60))
    public var writeTimeout: Duration = .seconds(5)
    @Setting(
        "ledger.retention", "Retention of single events. Totals by day are kept permanently.", .reload,
        allowed: "\(Duration.allowed), at least 1d", where: { $0 >= .seconds(86_400) })
    public var retention: Duration = .seconds(400 * 86_400)
}
