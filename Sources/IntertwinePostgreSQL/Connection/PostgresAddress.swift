internal import CPostgreSQL
package import IntertwineFeed

/// Where a database of PostgreSQL is: a URI as libpq reads it, of one host or several.
///
/// What the URI leaves out comes from where libpq looks for it: `PGPASSFILE`, `PGHOST`, services.
package struct PostgresAddress: Sendable, Hashable {
    /// As it was given. It may hold a password: never to be shown.
    let uri: String
    private let password: String
    /// The hosts, each with its port; empty where the URI names none.
    let places: [Place]

    struct Place: Sendable, Hashable {
        var host: String
        var hostAddress: String
        var port: String

        var shown: String {
            let name = host.isEmpty ? hostAddress : host
            return port.isEmpty ? name : "\(name):\(port)"
        }
    }
    /// For messages: user, hosts and database, nothing else.
    package let shown: String
    /// How long a statement may take there, but for those that are known to take long.
    let statementTimeout: Duration

    /// Whether a text names a database of PostgreSQL, and no file.
    package static func isAddress(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// - Throws: `StoreError.unusable` with one line, which repeats nothing of the URI.
    package init(_ uri: String, statementTimeout: Duration = .seconds(10)) throws(StoreError) {
        var fault: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(uri, &fault) else {
            defer { PQfreemem(fault) }
            let reason = fault.map { String(cString: $0) } ?? "there is no memory left"
            if let number = Self.unknownParameter(in: uri) {
                throw .unusable(
                    "the address of the PostgreSQL database cannot be read: libpq knows no such parameter as number \(number) after the ?; "
                        + "correct or remove it, and write %3F for a ? in a password")
            }
            // Behind the colon libpq repeats what it could not read, which may be a password.
            throw .unusable("the address of the PostgreSQL database cannot be read: \(reason.prefix { $0 != ":" && !$0.isNewline })")
        }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        // A password with an @ or a / in it would be taken for a host's name, a port or the database's name, and be shown.
        guard values["port"]?.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "," }) != false else {
            throw .unusable(
                "the address of the PostgreSQL database cannot be read: its port is not a number; in a password, @ is written %40 and "
                    + "/ is written %2F")
        }
        guard !["host", "dbname"].contains(where: { values[$0]?.contains("@") == true }) else {
            throw .unusable("the address of the PostgreSQL database cannot be read: in a password, @ is written %40 and / is written %2F")
        }
        self.uri = uri
        self.statementTimeout = statementTimeout
        password = values["password"] ?? ""
        let user = values["user"].map { "\($0)@" } ?? ""
        let list = { (name: String) in (values[name] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        places = (0..<max(hosts.count, addresses.count)).map { index in
            Place(
                host: index < hosts.count ? hosts[index] : "", hostAddress: index < addresses.count ? addresses[index] : "",
                port: index < ports.count ? ports[index] : ports.count == 1 ? ports[0] : "")
        }
        shown = "postgresql://\(user)\(places.map(\.shown).joined(separator: ","))/\(values["dbname"] ?? "")"
    }

    /// The number of the first parameter after the `?` that libpq does not know; its name may be a part of a password.
    private static func unknownParameter(in uri: String) -> Int? {
        guard let mark = uri.firstIndex(of: "?"), let options = PQconndefaults() else { return nil }
        defer { PQconninfoFree(options) }
        // libpq takes this one in addresses alone.
        var known: Set<Substring> = ["ssl"]
        var option = options
        while let keyword = option.pointee.keyword {
            known.insert(Substring(String(cString: keyword)))
            option += 1
        }
        let parameters = uri[uri.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        return parameters.firstIndex { !known.contains($0.prefix { $0 != "=" }) }.map { $0 + 1 }
    }

    /// A message without the password, should it repeat that.
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
