internal import Foundation
package import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage
package import IntertwineStorageCore

extension StoreSettings {
    mutating func read(_ reader: inout SettingsReader) {
        // SQLite treats some names as no file, and the ledger must be beside the file. A URL may contain a password.
        reader.read(
            "store.database", &database, allowed: Self.allowedDatabases, hidden: Self.mayHoldPassword, where: Self.isDatabase)
        if let fault = addressError { reader.check(false, "store.database: \(fault)") }
        // No name of a ledger can be derived from some of these, and read-only commands would find nothing there.
        reader.check(!isFolder, "store.database: \(database) is a folder, not a database")
        reader.read(
            "store.read-database", &readDatabase, allowed: "postgresql://…, or empty", hidden: Self.mayHoldPassword,
            where: { $0.isEmpty || Self.isAddress($0) })
        reader.check(
            readDatabase.isEmpty || Self.isAddress(database),
            "store.read-database: requires a PostgreSQL database in store.database")
        if let fault = standbyError { reader.check(false, "store.read-database: \(fault)") }
        reader.read("store.degraded-reads", &degradedReads, in: .zero ... .seconds(86_400))
        reader.check(
            degradedReads == .zero || hasStandby,
            "store.degraded-reads: requires a second host in the address of store.database, or store.read-database")
        reader.read("store.readers", &readers, in: 1...64)
        reader.read("store.queue", &queue, in: 1...1_000_000)
        reader.read("store.queue-timeout", &queueTimeout, in: .milliseconds(100) ... .seconds(60))
        reader.read("store.statement-timeout", &statementTimeout, in: .milliseconds(100) ... .seconds(600))
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
    private func standby() throws(StoreError) -> (any SharedDatabase)? {
        Self.isAddress(readDatabase)
            ? try postgresDatabase(at: readDatabase, statementTimeout: min(statementTimeout, .seconds(2))) : nil
    }

    func sharedDatabase() throws(StoreError) -> (any SharedDatabase)? {
        Self.isAddress(database) ? try postgresDatabase(at: database, statementTimeout: statementTimeout) : nil
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
        return shared.items(standby: try standby(), maximumAge: degradedReads, companions: path(of: "items"))
    }
}

extension LedgerSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("ledger.queue", &queue, in: 1...1_000_000)
        reader.read("ledger.batch-size", &batchSize, in: 1...10_000)
        reader.read("ledger.write-timeout", &writeTimeout, in: .milliseconds(100) ... .seconds(60))
        reader.read(
            "ledger.retention", &retention, allowed: "\(Duration.allowed), at least 1d", where: { $0 >= .seconds(86_400) })
    }
}
