internal import Foundation
internal import Glibc
internal import IntertwineDeclarations
internal import IntertwineFeed
internal import IntertwinePostgreSQL
internal import IntertwinePrimitives
internal import IntertwineStorage

/// `signing.*`: the keys that cursors, click tokens and image URLs are signed with.
public struct SigningSettings: Sendable {
    /// 64 hexadecimal digits; empty for the key in the data folder, which is made at the first start.
    public var key = ""
    /// The key before, still accepted while links signed with it are about; empty for none.
    public var previousKey = ""

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        Self.read("signing.key", &key, from: &reader)
        Self.read("signing.previous-key", &previousKey, from: &reader)
    }

    private static func read(_ name: String, _ key: inout String, from reader: inout SettingsReader) {
        reader.read(
            name, &key, allowed: "64 hexadecimal digits, or nothing", secret: true,
            where: { $0.isEmpty || SigningKey(hexadecimal: $0) != nil })
    }
}

/// The signing key that a service without a configured one keeps in its data folder, readable by its owner alone.
struct SigningKeyFile {
    let path: String

    /// The key, made now if there is none yet, and on disk. Two processes that start at once end up with the same one.
    ///
    /// - Throws: `ConfigurationError` where the file cannot be read or written, or holds no key. It is never overwritten.
    func load() throws -> SigningKey {
        let known = try read()
        if known == nil { try create(.random()) }
        guard let key = try known ?? read() else { throw ConfigurationError("\(path): the signing key cannot be read") }
        // Links and cursors that are given out must be good after a power cut too. Whoever made the file may not have come this far.
        guard DurableFolder.sync(of: path) else { throw failure("cannot be written") }
        return key
    }

    /// Writes a key that comes from elsewhere; nothing where it is there.
    ///
    /// - Throws: `ConfigurationError` where there is another one.
    func store(_ key: SigningKey) throws {
        if try read() == nil { try create(key) }
        guard try read() == key else { throw ConfigurationError("\(path): is another signing key; move it away first") }
        guard DurableFolder.sync(of: path) else { throw failure("cannot be written") }
    }

    /// The key, if there is one.
    ///
    /// - Throws: `ConfigurationError` where the file cannot be read, or holds no key.
    func read() throws -> SigningKey? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let text: String
        do { text = try TextFile.text(at: path) } catch { throw ConfigurationError("\(path): the signing key \(error.reason)") }
        guard let key = SigningKey(hexadecimal: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ConfigurationError("\(path): the signing key must be 64 hexadecimal digits")
        }
        return key
    }

    /// Writes a key under a name of its own and links it into place, so that nobody ever reads half a key. What a process that was
    /// killed has left is in nobody's way.
    private func create(_ key: SigningKey) throws {
        let draft = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 16))"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
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
        ConfigurationError("\(path): the signing key \(what): \(String(cString: strerror(errno)))")
    }
}

extension ServiceConfiguration {
    /// The keys in force. Where none is configured, that of the data folder or, with a PostgreSQL database, those of all replicas: made now
    /// if there is none yet.
    func keyRing() throws -> KeyRing {
        let previous = SigningKey(hexadecimal: signing.previousKey)
        if let key = SigningKey(hexadecimal: signing.key) { return KeyRing(SigningKeys(current: key, previous: previous)) }
        guard let address = try store.postgresAddress() else {
            let kept = try SigningKeyFile(path: store.path(of: "signing.key")).load()
            return KeyRing(SigningKeys(current: kept, previous: previous))
        }
        let kept = try PostgresSigningKeys(address)
        @Sendable func all(_ keys: SigningKeys) -> SigningKeys {
            SigningKeys(current: keys.current, previous: keys.previous ?? previous, next: keys.next)
        }
        return KeyRing(all(try kept.load())) { all(try await kept.read()) }
    }

    /// Makes a new signing key in the database, which all replicas take up.
    ///
    /// - Parameter isForced: whether links may become void that are about.
    /// - Throws: `ConfigurationError` where the keys are not kept there, `StoreError`.
    public func rotateKey(isForced: Bool) async throws {
        guard signing.key.isEmpty else {
            throw ConfigurationError("signing.key is configured: write a new key there, and the present one under signing.previous-key")
        }
        guard let address = try store.postgresAddress() else {
            throw ConfigurationError(
                "store.database is a file: write a new key under signing.key, and that of \(store.path(of: "signing.key")) under "
                    + "signing.previous-key")
        }
        let links = max(events.tokenLifetime, images.lifetime)
        try await PostgresSigningKeys(address).rotate(after: isForced ? 0 : links.milliseconds / 1_000)
    }
}
