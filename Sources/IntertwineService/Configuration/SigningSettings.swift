internal import Foundation
internal import Glibc
internal import IntertwineFeed
internal import IntertwinePostgreSQL
internal import IntertwinePrimitives
internal import IntertwineStorage

/// The settings `signing.*`: the keys that sign cursors, click tokens and image URLs.
public struct SigningSettings: Sendable, SettingsSection {
    @Setting(
        "signing.key", "Empty: a key made at the first start, stored as signing.key in the data folder with mode 0600.",
        allowed: "64 hexadecimal digits, or empty", hidden: { _ in true }, where: isKey)
    public var key = ""
    @Setting(
        "signing.previous-key", "The previous key, accepted while links signed with it are in use.",
        allowed: "64 hexadecimal digits, or empty", hidden: { _ in true }, where: isKey)
    public var previousKey = ""

    private static func isKey(_ text: String) -> Bool { text.isEmpty || SigningKey(hexadecimal: text) != nil }
}

struct SigningKeyFile {
    let path: String

    func load() throws -> SigningKey {
        let known = try read()
        if known == nil { try create(.random()) }
        guard let key = try known ?? read() else { throw ConfigurationError("\(path): the signing key cannot be read") }
        // Issued links and cursors must stay valid after a power failure. The process that created the file may not have synchronized it.
        guard DurableFolder.sync(of: path) else { throw failure("cannot be written") }
        return key
    }

    func store(_ key: SigningKey) throws {
        if try read() == nil { try create(key) }
        guard try read() == key else { throw ConfigurationError("\(path): is another signing key; move it away first") }
        guard DurableFolder.sync(of: path) else { throw failure("cannot be written") }
    }

    func read() throws -> SigningKey? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let text: String
        do { text = try TextFile.text(at: path) } catch { throw ConfigurationError("\(path): the signing key \(error.reason)") }
        guard let key = SigningKey(hexadecimal: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ConfigurationError("\(path): the signing key must be 64 hexadecimal digits")
        }
        return key
    }

    /// The time of the last change of the file, in milliseconds since 1970-01-01 UTC; nil if the file does not exist.
    fileprivate var creation: Int64? {
        let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        return date.flatMap { Int64(exactly: $0.timeIntervalSince1970.rounded()) }.map { $0 * 1_000 }
    }

    /// Writes a key to a temporary file and links it to its path, so that readers never see an incomplete key.
    private func create(_ key: SigningKey) throws {
        let draft = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let descriptor = OwnedFile.open(draft, O_WRONLY | O_EXCL)
        guard descriptor >= 0 else { throw failure("cannot be written") }
        defer { unlink(draft) }
        let line = Array((key.hexadecimal + "\n").utf8)
        let written = write(descriptor, line, line.count)
        let synced = fsync(descriptor)
        close(descriptor)
        guard written == line.count, synced == 0 else { throw failure("cannot be written") }
        guard link(draft, path) == 0 || errno == EEXIST else { throw failure("cannot be written") }
    }

    private func failure(_ what: String) -> ConfigurationError {
        ConfigurationError("\(path): the signing key \(what): \(OwnedFile.reason(path))")
    }
}

extension ServiceConfiguration {
    /// Without a configured key, these are the key of the data folder or, with a PostgreSQL database, the keys of all replicas.
    func keyRing() throws -> KeyRing {
        let previous = SigningKey(hexadecimal: signing.previousKey)
        if let key = SigningKey(hexadecimal: signing.key) { return KeyRing(SigningKeys(current: key, previous: previous)) }
        guard let shared = try store.sharedDatabase() else {
            let file = SigningKeyFile(path: store.path(of: "signing.key"))
            let (key, creation) = (try file.load(), file.creation)
            return KeyRing(SigningKeys(current: key, previous: previous), creation: { creation })
        }
        let sharedKeys = try PostgresSigningKeys(shared)
        @Sendable func all(_ keys: SigningKeys) -> SigningKeys {
            SigningKeys(current: keys.current, previous: keys.previous ?? previous, next: keys.next)
        }
        return KeyRing(
            all(try sharedKeys.load()), creation: { sharedKeys.newestCreation }, read: { all(try await sharedKeys.read()) })
    }

    package func rotateKey(isForced: Bool) async throws {
        guard signing.key.isEmpty else {
            throw ConfigurationError("signing.key: is configured; set a new key, and set the current one as signing.previous-key")
        }
        guard let shared = try store.sharedDatabase() else {
            throw ConfigurationError(
                "store.database: is a file; set a new key as signing.key, and the key of \(store.path(of: "signing.key")) as "
                    + "signing.previous-key")
        }
        let links = max(events.tokenLifetime, images.urlLifetime)
        try await PostgresSigningKeys(shared).rotate(after: isForced ? 0 : links.milliseconds / 1_000)
    }
}
