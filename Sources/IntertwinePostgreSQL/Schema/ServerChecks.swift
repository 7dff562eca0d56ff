internal import IntertwineFeed
internal import IntertwineStorageCore

enum ServerChecks {
    static func check<Value>(_ pool: PostgresPool, _ body: (PostgresConnection) throws -> Value) throws(StoreError) -> Value {
        try explaining(pool.address) {
            do {
                return try pool.use(body)
            } catch let error as PostgresError where ["55P03", "57014"].contains(error.code) {
                guard let holder = try? pool.use({ PostgresHolder.ofTable($0) }) else { throw error }
                throw StoreError.unusable("\(error.message); \(holder): end it, and start again")
            }
        }
    }

    static func explaining<Value>(_ address: PostgresAddress, _ body: () throws -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch let error as PostgresError {
            throw .unusable("\(address.shown): \(advice(error))")
        } catch let error as StoreError {
            throw .unusable("\(address.shown): \(error)")
        } catch {
            throw .unusable("\(address.shown): \(error)")
        }
    }

    private static func advice(_ error: PostgresError) -> String {
        let what = error.message
        return switch error.code {
        case "28P01", "28000": "\(what); name the right user, with its password in PGPASSFILE or PGPASSWORD, or correct pg_hba.conf"
        case "3D000": "\(what); create it with createdb"
        case "42501": "\(what); GRANT CREATE, USAGE ON SCHEMA public to this user, or make it the owner of the database"
        case "25006":
            "\(what); this is a standby, or default_transaction_read_only is on: "
                + "name the primary, or all hosts with target_session_attrs=read-write"
        case "53300": "\(what); raise max_connections, or lower store.readers"
        case "42P07", "42710", "42723":
            "\(what), which is another program's: use a database, or a schema in this user's search_path, that no other program uses"
        case "55006": "\(what); wait until it has ended"
        case "55P03": "\(what); another session holds a lock on the tables: end it, and start again"
        case "" where what.contains("no password supplied"): "\(what); put the password into PGPASSFILE or PGPASSWORD"
        case "3F000": "\(what); create the first schema of this user's search_path, or correct search_path"
        case "26000", "42P05": "\(what); a pooler in front of the server has to work by session (pool_mode = session)"
        case "08P01" where what.contains("startup parameter"): "\(what); let the pooler accept it (ignore_startup_parameters = options)"
        case "" where error.isConnectionLost: unreached(what)
        default: error.description
        }
    }

    private static func unreached(_ what: String) -> String {
        let says = { (words: [String]) in words.contains { what.contains($0) } }
        return if says(["session is read-only", "session is not read-only", "hot standby mode"]) {
            "no server matches target_session_attrs: \(what); name all hosts, or correct target_session_attrs"
        } else if says(["SSL", "certificate"]) {
            "no server matches sslmode: \(what); set TLS up on the server, or correct sslmode"
        } else if what.hasPrefix("an old primary ") {
            "\(what); stop it or make it a standby, and name the new primary"
        } else if what.hasPrefix("invalid ") || what.hasPrefix("could not match ") {
            "the address is invalid: \(what); correct it"
        } else {
            "no server responds: \(what); start it, or correct store.database"
        }
    }
}
