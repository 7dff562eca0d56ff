internal import CPostgreSQL
package import IntertwineFeed

/// Where a database of PostgreSQL is: a URI as libpq reads it, of one host or several.
///
/// What the URI leaves out comes from where libpq looks for it: `PGPASSFILE`, `PGHOST`, services.
package struct PostgresAddress: Sendable, Hashable {
    /// As it was given. It may hold a password: never to be shown.
    let uri: String
    private let password: String
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
        guard !["host", "dbname"].contains(where: { values[$0]?.contains("@") == true }),
            values["port"]?.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "," }) != false
        else {
            throw .unusable("the address of the PostgreSQL database cannot be read: in a password, @ is written %40 and / is written %2F")
        }
        self.uri = uri
        self.statementTimeout = statementTimeout
        password = values["password"] ?? ""
        let user = values["user"].map { "\($0)@" } ?? ""
        let hosts = (values["host"] ?? values["hostaddr"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let ports = (values["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let places = hosts.enumerated().map { index, host in
            let port = index < ports.count ? ports[index] : ports.count == 1 ? ports[0] : ""
            return port.isEmpty ? String(host) : "\(host):\(port)"
        }
        shown = "postgresql://\(user)\(places.joined(separator: ","))/\(values["dbname"] ?? "")"
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
