internal import Foundation
internal import IntertwineDeclarations
internal import IntertwineFeed
internal import IntertwinePostgreSQL
internal import IntertwinePrimitives
package import IntertwineStorage

/// `store.*`: the files that the service keeps.
public struct StoreSettings: Sendable {
    private static let defaultDatabase = "data/intertwine.sqlite"

    /// The items, in a file or in a PostgreSQL database. A file's folder is the data folder: ledger, signing key and image cache are kept
    /// beside it. A database has ledger and signing key too.
    public var database = StoreSettings.defaultDatabase
    /// A hot standby of that database, which the items are read of where it has all that the replica has seen; empty for none.
    public var readDatabase = ""
    /// The data folder of a replica with a PostgreSQL database; each on one machine has its own.
    public var folder = "data"
    /// Threads that read the items, and as many that read the ledger.
    public var readers = 4
    /// Reads that may wait for one of them; beyond it the answer is 503.
    public var queue = 4_096
    /// How long a request waits for one before it is answered 503.
    public var queueTimeout: Duration = .seconds(2)
    /// How long a PostgreSQL server may take for a statement before a request that waits for it is answered 503.
    public var statementTimeout: Duration = .seconds(10)
    /// Whether a start goes on if a file of the store is missing, older than the others, or of another store. No setting: it is meant for one
    /// start.
    public var acceptsDataLoss = false

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        // SQLite takes some names for something else than a file, and the ledger is to be found beside it. A URL may hold a password.
        reader.read(
            "store.database", &database, allowed: Self.allowedDatabases, hidden: Self.mayHoldPassword, where: Self.isDatabase)
        if let fault = addressError { reader.check(false, "store.database: \(fault)") }
        // Some of these have no name that the ledger's could be made of, and commands that only read would find nothing there.
        reader.check(!isFolder, "store.database: \(database) is a folder, not a database")
        reader.read(
            "store.read-database", &readDatabase, allowed: "postgresql://…, or nothing", hidden: Self.mayHoldPassword,
            where: { $0.isEmpty || PostgresAddress.isAddress($0) })
        reader.check(
            readDatabase.isEmpty || PostgresAddress.isAddress(database),
            "store.read-database: store.database is no PostgreSQL database, which it would be a standby of")
        if let fault = standbyError { reader.check(false, "store.read-database: \(fault)") }
        reader.read("store.folder", &folder, allowed: "a folder's path", where: { !$0.isEmpty })
        reader.read("store.readers", &readers, in: 1...64)
        reader.read("store.queue", &queue, in: 1...1_000_000)
        reader.read("store.patience", &queueTimeout, in: .milliseconds(100) ... .seconds(60))
        reader.read("store.statement-timeout", &statementTimeout, in: .milliseconds(100) ... .seconds(600))
    }

    static let allowedDatabases = "a file's path, neither :memory: nor a URL, or postgresql://…"

    /// Whether it can be a file, or an address.
    static func isDatabase(_ text: String) -> Bool {
        PostgresAddress.isAddress(text)
            || !text.isEmpty && text != ":memory:" && !isFileURL(text) && !text.contains("://") && !isListOfKeywords(text)
    }

    static func mayHoldPassword(_ text: String) -> Bool { text.contains("://") && !isFileURL(text) || isListOfKeywords(text) }

    /// `host=db1 password=…`, which libpq takes as well, and which would make a fine file's name.
    private static func isListOfKeywords(_ text: String) -> Bool {
        text.split(whereSeparator: \.isWhitespace).contains { word in
            guard let end = word.firstIndex(of: "=") else { return false }
            return ["host", "hostaddr", "port", "dbname", "user", "password", "service"].contains(word[..<end])
        }
    }

    private static func isFileURL(_ text: String) -> Bool { text.lowercased().hasPrefix("file:") }

    private var isFolder: Bool {
        guard !PostgresAddress.isAddress(database) else { return false }
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: database, isDirectory: &isFolder)
        let name = database.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        return ["", ".", ".."].contains(name) || isThere && isFolder.boolValue
    }

    var reading: ReadLimits { ReadLimits(threads: readers, waiting: queue, queueTimeout: queueTimeout) }

    /// Why the address cannot be read, should it be one.
    private var addressError: StoreError? {
        do throws(StoreError) {
            _ = try postgresAddress()
            return nil
        } catch {
            return error
        }
    }

    private var standbyError: StoreError? {
        do throws(StoreError) {
            _ = try standbyAddress()
            return nil
        } catch {
            return error
        }
    }

    /// One that does not answer must not hold up for long who can ask the primary.
    private func standbyAddress() throws(StoreError) -> PostgresAddress? {
        PostgresAddress.isAddress(readDatabase)
            ? try PostgresAddress(readDatabase, statementTimeout: min(statementTimeout, .seconds(2))) : nil
    }

    /// Nil where the items are in a file.
    ///
    /// - Throws: ``StoreError/unusable(_:)`` where it cannot be read.
    func postgresAddress() throws(StoreError) -> PostgresAddress? {
        PostgresAddress.isAddress(database) ? try PostgresAddress(database, statementTimeout: statementTimeout) : nil
    }

    /// `intertwine.sqlite` keeps its ledger in `intertwine.ledger.sqlite`: a long import never makes a click wait.
    public var ledgerDatabase: String {
        let url = URL(fileURLWithPath: database)
        let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
        return url.deletingPathExtension().path + ".ledger" + suffix
    }

    /// Makes the data folder where it is missing: that of a replica, for nobody but its user, and a file's where it is called `data`. One of
    /// another name is not made: more likely it was mistyped. That it cannot be made is told by whoever opens what belongs there.
    public func makeDataFolder() {
        let (folder, isReplica) = (dataFolder, PostgresAddress.isAddress(database))
        guard isReplica || folder.lastPathComponent == "data" else { return }
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: isReplica ? [.posixPermissions: 0o700] : nil)
    }

    /// A file or folder in the data folder.
    public func path(of name: String) -> String {
        dataFolder.appendingPathComponent(name).path
    }

    private var dataFolder: URL {
        PostgresAddress.isAddress(database) ? URL(fileURLWithPath: folder) : URL(fileURLWithPath: database).deletingLastPathComponent()
    }

    /// Room for a start on a full disk; nil if the databases are not files of this machine.
    var room: DiskRoom? { PostgresAddress.isAddress(database) ? nil : DiskRoom(path: path(of: "start.reserve")) }

    /// Where the items are, as ``database`` says.
    ///
    /// - Throws: `StoreError.unusable` where it is an address that cannot be read.
    package func items() throws(StoreError) -> any ItemLocation {
        guard let address = try postgresAddress() else { return ItemFile(database) }
        return PostgresItemLocation(address, standby: try standbyAddress(), companions: path(of: "items"))
    }
}

/// `ledger.*`: the record of what happened.
public struct LedgerSettings: Sendable {
    /// Units of work that may wait for the disk; beyond it the answer is 503.
    public var queue = 4_096
    /// Units of work that share one transaction at most.
    public var group = 512
    /// How long a request waits for the disk before it is answered 503.
    public var writeTimeout: Duration = .seconds(5)
    /// How long single events are kept; their daily totals are kept for good.
    public var retention: Duration = .seconds(400 * 86_400)

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("ledger.queue", &queue, in: 1...1_000_000)
        reader.read("ledger.group", &group, in: 1...10_000)
        reader.read("ledger.patience", &writeTimeout, in: .milliseconds(100) ... .seconds(60))
        reader.read(
            "ledger.retention", &retention, allowed: "\(Duration.allowed), at least 1d", where: { $0 >= .seconds(86_400) })
    }
}
