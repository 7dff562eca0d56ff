internal import Dispatch
internal import Foundation
internal import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage

package struct StoreBackup: Sendable {
    private let folder: String
    private let files: StoreFiles
    private let items: String
    private let ledger: String
    private let keyFile: SigningKeyFile

    private init(_ path: String) {
        var isDirectory: ObjCBool = false
        let isFile = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
        var store = StoreSettings()
        store.database = isFile ? path : path + "/intertwine.sqlite"
        self.init(store)
    }

    private init(_ store: StoreSettings) {
        (items, ledger) = (store.database, store.ledgerDatabase)
        files = StoreFiles(items: items, ledger: ledger)
        keyFile = SigningKeyFile(path: store.path(of: "signing.key"))
        folder = store.path(of: "")
    }

    private func summary() throws -> String {
        var parts = [(items, "items"), (ledger, "ledger")].compactMap { path, name in
            ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int).map { "\(name) \($0 >> 10) KiB" }
        }
        parts.append(try keyFile.read().map { "signing key \($0.name)" } ?? "no signing key")
        return parts.joined(separator: ", ")
    }

    // MARK: Commands

    /// `target`: The path of the folder, which must not exist.
    package static func create(
        in target: String, of configuration: ServiceConfiguration,
        begins: @escaping InterruptibleBegin,
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
            let draft = folder + ".partial"
            try begins {
                guard mkdir(draft, 0o700) == 0 else {
                    throw errno == EEXIST
                        ? ConfigurationError("\(draft): exists: a backup is running, or was killed; remove it in that case")
                        : failure(draft)
                }
                return { removeIncomplete(draft) }
            }
            do {
                let copy = StoreBackup(draft)
                try copy.copyFiles(of: source, includesKey: configuration.signing.key.isEmpty, onProgress)
                try checkAbsent(folder)
                willFinish()
                guard rename(draft, folder) == 0, DurableFolder.sync(of: folder) else { throw failure(folder) }
                return try StoreBackup(folder).summary()
            } catch {
                removeIncomplete(draft)
                throw error
            }
        }
    }

    package static func verify(
        _ path: String, onProgress: @escaping @Sendable (_ file: String) -> Void
    ) async throws -> (summary: String, findings: [String]) {
        let backup = try existing(path)
        return try await blocking {
            let findings = backup.findings(onProgress)
            return (try findings.isEmpty ? backup.summary() : "", findings)
        }
    }

    package static func restore(
        _ source: String, to configuration: ServiceConfiguration, overwrites: Bool,
        begins: @escaping InterruptibleBegin, willReplace: @escaping @Sendable () -> Void,
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
        return try await configuration.audited("restore", source, begins: begins) { _ in
            try await blocking {
                let draft = target.items + ".restoring"
                // A killed restore may have left it.
                removeIncomplete(draft)
                try begins {
                    guard OwnedFile.makeFolder(draft) else { throw failure(draft) }
                    return { removeIncomplete(draft) }
                }
                defer { removeIncomplete(draft) }
                let copy = StoreBackup(draft)
                let hasKey = try backup.keyFile.read() != nil
                try copy.copyFiles(of: backup, includesKey: hasKey, onProgress)
                willReplace()
                try target.files.replace(
                    with: copy.files, key: hasKey ? (from: copy.keyFile.path, to: target.keyFile.path) : nil)
                return (try target.summary(), [])
            }
        }
    }

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
        let files = [backup.items, backup.ledger, backup.keyFile.path].filter { FileManager.default.fileExists(atPath: $0) }
        guard !files.isEmpty else { throw ConfigurationError("\(path): no backup or store exists") }
        for file in files {
            // The open of a pipe would wait for its writer.
            var status = stat()
            guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw ConfigurationError("\(file): is not a regular file")
            }
        }
        return backup
    }

    private func findings(_ onProgress: (_ file: String) -> Void) -> [String] {
        guard access(items, F_OK) == 0 else { return ["\(items): is missing"] }
        do {
            let key = StoreFiles.Key(path: keyFile.path, name: try keyFile.read()?.name)
            return files.findings(key: key, onProgress: onProgress)
        } catch {
            return (error as? ConfigurationError)?.reasons ?? ["\(error)"]
        }
    }

    private func copyFiles(
        of source: StoreBackup, includesKey: Bool, _ onProgress: @escaping (_ file: String, _ share: Double) -> Void
    ) throws {
        let key = includesKey ? try source.keyFile.read() : nil
        try source.files.copy(to: files, includesKey: key != nil, onProgress: onProgress)
        if let key {
            try Self.write(key.hexadecimal + "\n", to: keyFile.path)
            // The age of a key is the age of its file.
            let attributes = try FileManager.default.attributesOfItem(atPath: source.keyFile.path)
            try FileManager.default.setAttributes(attributes.filter { $0.key == .modificationDate }, ofItemAtPath: keyFile.path)
        }
        let findings = findings { _ in }
        guard findings.isEmpty else { throw StoreError.unusable(findings.joined(separator: "; ")) }
    }

    private static func write(_ text: String, to path: String) throws {
        let descriptor = OwnedFile.open(path, O_WRONLY | O_EXCL)
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
        .unusable("\(path): cannot be written: \(OwnedFile.reason(path))")
    }

    private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await DispatchQueue(label: "intertwine.backup").perform(body)
    }
}
