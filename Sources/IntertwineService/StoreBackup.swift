internal import CoreFoundation
internal import Dispatch
internal import Foundation
internal import Glibc
internal import IntertwineCrypto
internal import IntertwineDeclarations
internal import IntertwineFeed
internal import IntertwineItems
internal import IntertwinePrimitives
internal import IntertwineSettings
internal import IntertwineStorage

/// Backups of a file store: a folder with items, ledger, signing key and a list of their SHA-256 digests.
package struct StoreBackup: Sendable {
    private static let digestList = "SHA256SUMS"

    private let folder: String
    /// True for a folder, which has a list of digests; false for the file of the items of a store.
    private let isFolder: Bool
    private let files: StoreFiles
    private let items: String
    private let ledger: String
    private let keyFile: SigningKeyFile

    /// - Parameter path: The folder of a backup, or the file of the items of a store.
    private init(_ path: String) {
        var isDirectory: ObjCBool = false
        let isFile = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
        var store = StoreSettings()
        store.database = isFile ? path : path + "/intertwine.sqlite"
        self.init(store, isFolder: !isFile)
    }

    private init(_ store: StoreSettings, isFolder: Bool = false) {
        self.isFolder = isFolder
        (items, ledger) = (store.database, store.ledgerDatabase)
        files = StoreFiles(items: items, ledger: ledger)
        keyFile = SigningKeyFile(path: store.path(of: "signing.key"))
        folder = store.path(of: "")
    }

    private var paths: [String] { [items, ledger, keyFile.path].filter { FileManager.default.fileExists(atPath: $0) } }

    /// A line about the content: the sizes of the files, and the name of the key.
    private func summary() throws -> String {
        var parts = [(items, "items"), (ledger, "ledger")].compactMap { path, name in
            ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int).map { "\(name) \($0 >> 10) KiB" }
        }
        parts.append(try keyFile.read().map { "signing key \($0.name)" } ?? "no signing key")
        return parts.joined(separator: ", ")
    }

    // MARK: Commands

    /// Copies items, ledger and signing key as of one point in time into a new folder, while a service may run.
    ///
    /// The folder has its name only once it is complete and on disk. An incomplete one of a killed process is removed by the next call.
    ///
    /// - Parameters:
    ///   - target: The path of the folder, which must not exist.
    ///   - onInterruption: Called with a function that removes the incomplete folder after an interruption.
    ///   - willFinish: Called before the folder gets its name. Before it, an interruption makes no backup.
    ///   - onProgress: Called on any thread with the name of a file and the completed share of its copy.
    /// - Returns: One line about the content.
    /// - Throws: `ConfigurationError`, or `StoreError` with one line.
    package static func create(
        in target: String, of configuration: ServiceConfiguration,
        onInterruption: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        willFinish: @escaping @Sendable () -> Void,
        onProgress: @escaping @Sendable (_ file: String, _ share: Double) -> Void
    ) async throws -> String {
        let source = try fileStore(configuration)
        return try await blocking {
            guard access(source.items, F_OK) == 0 else { throw ConfigurationError("\(source.items): no store exists") }
            // An incomplete store is no source of a backup.
            _ = try configuration.storeFiles()
            let folder = URL(fileURLWithPath: target).standardizedFileURL.path
            try checkAbsent(folder)
            let draft = try Draft(folder + ".partial")
            let path = draft.path
            onInterruption { removeIncomplete(path) }
            do {
                try draft.copy(source, includesKey: configuration.signing.key.isEmpty, onProgress)
                let copy = StoreBackup(draft.path)
                try copy.writeDigests()
                try checkAbsent(folder)
                willFinish()
                guard rename(draft.path, folder) == 0, DurableFolder.sync(of: folder) else { throw failure(folder) }
                draft.unlock(in: folder)
                return try StoreBackup(folder).summary()
            } catch {
                draft.remove()
                throw error
            }
        }
    }

    /// Verifies a backup or a store.
    ///
    /// - Parameters:
    ///   - path: The folder of a backup, or the file of the items.
    ///   - onProgress: Called on any thread with the name of each file.
    /// - Returns: One line about the content, and one line for each finding.
    /// - Throws: `ConfigurationError` if there is no store.
    package static func verify(
        _ path: String, onProgress: @escaping @Sendable (_ file: String) -> Void
    ) async throws -> (summary: String, findings: [String]) {
        let backup = try existing(path)
        return try await blocking {
            let findings = backup.findings(onProgress)
            return (try findings.isEmpty ? backup.summary() : "", findings)
        }
    }

    /// Replaces the store of a configuration by a verified backup. The store is either unchanged or complete when the call returns.
    ///
    /// - Parameters:
    ///   - source: The folder of a backup, or the file of the items of another store.
    ///   - overwrites: True if an existing store is replaced.
    ///   - onInterruption: Called with a function that removes the incomplete copy and records the failure after an interruption.
    ///   - willReplace: Called before the first change of the store. Before it, an interruption changes nothing.
    ///   - onProgress: Called on any thread with the name of a file and the completed share of its copy.
    /// - Returns: One line about the content, and one line for each finding. With a finding, nothing is restored.
    /// - Throws: `ConfigurationError`, or `StoreError` with one line.
    package static func restore(
        _ source: String, to configuration: ServiceConfiguration, overwrites: Bool,
        onInterruption: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void, willReplace: @escaping @Sendable () -> Void,
        onProgress: @escaping @Sendable (_ file: String, _ share: Double) -> Void
    ) async throws -> (summary: String, findings: [String]) {
        let (backup, target) = (try existing(source), try fileStore(configuration))
        guard realPath(backup.items) != realPath(target.items) else {
            throw ConfigurationError("\(source): is the store itself")
        }
        let findings = try await blocking {
            try target.checkReplaceable(by: backup, overwrites: overwrites)
            let findings = backup.findings { onProgress($0, 0) }
            guard findings.isEmpty else { return findings }
            guard mkdir(target.folder, 0o700) == 0 || errno == EEXIST else { throw failure(target.folder) }
            return []
        }
        guard findings.isEmpty else { return ("", findings) }
        return try await configuration.audited("restore", source) { note in
            try await blocking {
                let draft = try Draft(target.items + ".restoring")
                let path = draft.path
                onInterruption {
                    removeIncomplete(path)
                    note.flushOnFailure()
                }
                defer { draft.remove() }
                let hasKey = try backup.keyFile.read() != nil
                try draft.copy(backup, includesKey: hasKey, onProgress)
                let copy = StoreBackup(draft.path)
                willReplace()
                try target.files.replace(
                    with: copy.files, key: hasKey ? (from: copy.keyFile.path, to: target.keyFile.path) : nil)
                return (try target.summary(), [])
            }
        }
    }

    /// Removes an incomplete copy of this process, which is about to end.
    private static func removeIncomplete(_ path: String) {
        // The copy may add a file meanwhile.
        for _ in 0..<10 where access(path, F_OK) == 0 { try? FileManager.default.removeItem(atPath: path) }
    }

    // MARK: Parts

    private static func fileStore(_ configuration: ServiceConfiguration) throws -> StoreBackup {
        guard try configuration.store.sharedDatabase() == nil else {
            throw ConfigurationError("store.database: is a PostgreSQL database; back it up with pg_basebackup or pg_dump")
        }
        return StoreBackup(configuration.store)
    }

    /// Checks that no process uses this store, and that it is empty unless it may be replaced.
    private func checkReplaceable(by backup: StoreBackup, overwrites: Bool) throws {
        try files.checkUnused()
        guard !overwrites else { return }
        for path in [items, ledger] where access(path, F_OK) == 0 {
            throw ConfigurationError("\(path): exists; --overwrite replaces the store")
        }
        guard let key = try backup.keyFile.read(), let present = try keyFile.read(), present != key else { return }
        throw ConfigurationError("\(keyFile.path): is another signing key; --overwrite replaces it")
    }

    private static func existing(_ path: String) throws(ConfigurationError) -> StoreBackup {
        let backup = StoreBackup(path)
        guard !backup.paths.isEmpty || access("\(path)/\(digestList)", F_OK) == 0 else {
            throw ConfigurationError("\(path): no backup or store exists")
        }
        return backup
    }

    private func findings(_ onProgress: (_ file: String) -> Void) -> [String] {
        var findings = digestFindings()
        guard access(items, F_OK) == 0 else { return findings + ["\(items): is missing"] }
        do {
            let key = StoreFiles.Key(path: keyFile.path, name: try keyFile.read()?.name)
            findings += files.findings(key: key, onProgress: onProgress)
        } catch {
            findings += (error as? ConfigurationError)?.reasons ?? ["\(error)"]
        }
        return findings
    }

    private func writeDigests() throws {
        var lines = ""
        for path in paths {
            guard let digest = Self.digest(of: path) else { throw Self.failure(path) }
            lines += "\(digest)  \((path as NSString).lastPathComponent)\n"
        }
        let path = "\(folder)/\(Self.digestList)"
        try Self.write(lines, to: path)
    }

    /// Compares the files of a backup with its list of digests, which a store does not have.
    private func digestFindings() -> [String] {
        let list = "\(folder)/\(Self.digestList)"
        guard access(list, F_OK) == 0 else {
            return isFolder ? ["\(list): is missing; a store without digests is named by the file of its items"] : []
        }
        guard let text = try? String(contentsOfFile: list, encoding: .utf8) else { return ["\(list): cannot be read"] }
        let listed = text.split(separator: "\n").compactMap { $0.split(separator: " ").last.map(String.init) }
        let unlisted = paths.map { ($0 as NSString).lastPathComponent }.filter { !listed.contains($0) }
            .map { "\(folder)/\($0): is not in \(Self.digestList)" }
        let added = [items, ledger].flatMap { path in ["-wal", "-journal"].map { path + $0 } }.filter(Self.hasContent)
            .map { "\($0): was added after the backup" }
        return unlisted + added
            + text.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: " ", maxSplits: 1).map { $0.drop { $0 == " " } }
                guard parts.count == 2, parts[0].utf8.count == 64, !parts[1].contains("/") else { return "\(list): has an invalid line" }
                let path = "\(folder)/\(parts[1])"
                guard let digest = Self.digest(of: path) else { return "\(path): \(String(cString: strerror(errno)))" }
                return digest == parts[0] ? nil : "\(path): was changed after the backup: its SHA-256 digest differs"
            }
    }

    private static func hasContent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_size > 0
    }

    /// Returns the SHA-256 digest of a file in hexadecimal digits; nil if it cannot be read.
    private static func digest(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var digest = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            digest.update(data: buffer[..<count])
        }
        return Hexadecimal.text(digest.finalize())
    }

    /// Writes a new file that only its owner can read, and syncs it to disk.
    private static func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0, DurableFolder.sync(of: path) else {
            throw failure(path)
        }
    }

    private static func checkAbsent(_ folder: String) throws(ConfigurationError) {
        var status = stat()
        guard lstat(folder, &status) != 0 else { throw ConfigurationError("\(folder): exists; a backup does not overwrite it") }
    }

    private static func realPath(_ path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    private static func failure(_ path: String) -> StoreError {
        .unusable("\(path): cannot be written: \(String(cString: strerror(errno)))")
    }

    private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "intertwine.backup").async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// A folder for an incomplete copy, which one process at a time uses.
    private struct Draft {
        /// The name of the locked file. The folder itself is locked by checks of the files in it.
        private static let lockFile = "/.lock"

        let path: String
        private let lock: Int32

        /// Creates the folder, and removes the folder that a killed process left.
        init(_ path: String) throws {
            self.path = path
            let left = open(path + Self.lockFile, O_RDONLY | O_CLOEXEC)
            if left >= 0 {
                defer { close(left) }
                guard flock(left, LOCK_EX | LOCK_NB) == 0 else { throw ConfigurationError("\(path): another process writes this copy") }
                try FileManager.default.removeItem(atPath: path)
            } else if access(path, F_OK) == 0 {
                throw ConfigurationError("\(path): exists and is no incomplete copy; remove it")
            }
            guard mkdir(path, 0o700) == 0 else { throw StoreBackup.failure(path) }
            lock = open(path + Self.lockFile, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw StoreBackup.failure(path) }
        }

        func copy(_ source: StoreBackup, includesKey: Bool, _ onProgress: @escaping (_ file: String, _ share: Double) -> Void) throws {
            let copy = StoreBackup(path)
            let key = includesKey ? try source.keyFile.read() : nil
            try source.files.copy(to: copy.files, includesKey: key != nil, onProgress: onProgress)
            if let key {
                try StoreBackup.write(key.hexadecimal + "\n", to: copy.keyFile.path)
                // The age of a key is the age of its file.
                let attributes = try FileManager.default.attributesOfItem(atPath: source.keyFile.path)
                try FileManager.default.setAttributes(attributes.filter { $0.key == .modificationDate }, ofItemAtPath: copy.keyFile.path)
            }
            let faults = try copy.files.faults(key: StoreFiles.Key(path: copy.keyFile.path, name: key?.name))
            guard faults.isEmpty else { throw StoreError.unusable(faults.joined(separator: "; ")) }
        }

        /// Ends the exclusive use of the folder, which has its final name.
        func unlock(in folder: String) {
            unlink(folder + Self.lockFile)
            close(lock)
        }

        /// Removes the folder, if it has its temporary name.
        func remove() {
            try? FileManager.default.removeItem(atPath: path)
            close(lock)
        }
    }
}
