internal import CPostgreSQL
package import IntertwineFeed
internal import IntertwineStorageCore

package struct PostgresAddress: Sendable, Hashable {
    /// It may contain a password and must never appear in messages.
    let uri: String
    private let password: String
    let options: String
    let endpoints: [Endpoint]

    private static let numericParameters = [
        "connect_timeout", "keepalives", "keepalives_count", "keepalives_idle", "keepalives_interval", "tcp_user_timeout",
    ]

    struct Endpoint: Sendable, Hashable {
        var host: String
        var hostAddress: String
        var port: String

        var shown: String {
            let name = host.isEmpty ? hostAddress : host
            return port.isEmpty ? name : "\(name):\(port)"
        }
    }
    package let shown: String
    package var hasSeveralHosts: Bool { endpoints.count > 1 }
    let statementTimeout: Duration

    package static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    package init(_ uri: String, statementTimeout: Duration = .seconds(4)) throws(StoreError) {
        var fault: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(uri, &fault) else {
            defer { PQfreemem(fault) }
            let reason = fault.map { String(cString: $0) } ?? "out of memory"
            if let number = Self.unknownParameter(in: uri) {
                throw .unusable(
                    "the address of the PostgreSQL database cannot be read: libpq does not know parameter \(number) after the ?; "
                        + "correct or remove it, and write %3F for a ? in a password")
            }
            // libpq repeats the unreadable part after the colon, which may be a password.
            throw .unusable("the address of the PostgreSQL database cannot be read: \(reason.prefix { $0 != ":" && !$0.isNewline })")
        }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        // libpq would read a password that contains @ or / as a host name, port or database name, and messages would show it.
        guard values["port"]?.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "," }) != false else {
            throw .unusable(
                "the address of the PostgreSQL database cannot be read: its port is not a number; in a password, @ is written %40 and "
                    + "/ is written %2F")
        }
        guard !["host", "dbname"].contains(where: { values[$0]?.contains("@") == true }) else {
            throw .unusable("the address of the PostgreSQL database cannot be read: in a password, @ is written %40 and / is written %2F")
        }
        if let name = Self.numericParameters.first(where: { values[$0].map { Int32($0) == nil } ?? false }) {
            throw .unusable("the address of the PostgreSQL database cannot be read: \(name) is not an integer")
        }
        self.uri = uri
        self.statementTimeout = statementTimeout
        password = values["password"] ?? ""
        self.options = values["options"] ?? ""
        let user = values["user"].map { "\($0)@" } ?? ""
        let list = { (name: String) in (values[name] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        endpoints = (0..<max(hosts.count, addresses.count)).map { index in
            Endpoint(
                host: index < hosts.count ? hosts[index] : "", hostAddress: index < addresses.count ? addresses[index] : "",
                port: index < ports.count ? ports[index] : ports.count == 1 ? ports[0] : "")
        }
        shown = "postgresql://\(user)\(endpoints.map(\.shown).joined(separator: ","))/\(values["dbname"] ?? "")"
    }

    private static func unknownParameter(in uri: String) -> Int? {
        guard let mark = uri.firstIndex(of: "?"), let options = PQconndefaults() else { return nil }
        defer { PQconninfoFree(options) }
        // libpq accepts this parameter in URIs only.
        var known: Set<Substring> = ["ssl"]
        var option = options
        while let keyword = option.pointee.keyword {
            known.insert(Substring(String(cString: keyword)))
            option += 1
        }
        let parameters = uri[uri.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        return parameters.firstIndex { !known.contains($0.prefix { $0 != "=" }) }.map { $0 + 1 }
    }

    func concealing(_ message: String) -> String {
        guard !password.isEmpty else { return message }
        var (rest, parts) = (message[...], [Substring]())
        while let range = rest.firstRange(of: password) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        parts.append(rest)
        return parts.joined(separator: "***")
    }
}
