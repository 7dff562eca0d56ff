package struct TableSchema: Sendable {
    package enum File: Sendable, CaseIterable {
        case items, ledger
    }

    package struct Column: Sendable {
        package enum Kind: String, Sendable {
            case integer
            case counter
            case text
            case string
            /// SQLite's planner then expects long rows, and reads forms through their index.
            case document
            case bytes
            /// 0 or 1 in a file, a boolean in PostgreSQL.
            case flag
        }

        package let name: String
        package let kind: Kind
        fileprivate let isOptional: Bool

        fileprivate init(_ declaration: String) {
            let words = declaration.split(separator: " ")
            name = String(words[0])
            kind = Kind(rawValue: String(words[1].prefix(while: \.isLetter))) ?? .text
            isOptional = words[1].hasSuffix("?")
        }
    }

    package enum Trait: Sendable {
        case constraint(String)
        case index(String, on: String)
        /// PostgreSQL accepts other numbers only from copies if the numbers are its own.
        case numbered(always: Bool)
        /// PostgreSQL has a sequence.
        case ascending
        /// Replicas have rows of their own in PostgreSQL, by slot, which are counted together: the last column is the count.
        case perReplica
        case filled
        /// The share of PostgreSQL's pages that is filled, which leaves space for updates in place.
        case fillFactor(Int)
    }

    package let name: String
    package let file: File
    package let columns: [Column]
    let keyLength: Int
    private let traits: [Trait]

    package init(_ name: String, _ file: File, key: Int, _ columns: String, _ traits: Trait...) {
        (self.name, self.file, keyLength, self.traits) = (name, file, key, traits)
        self.columns = columns.split(separator: ",").map { Column(String($0)) }
    }

    package var key: [Column] { Array(columns.prefix(keyLength)) }
    var isPerReplica: Bool { traits.contains { if case .perReplica = $0 { true } else { false } } }
    package var isFilled: Bool { traits.contains { if case .filled = $0 { true } else { false } } }

    package var numberColumn: String? { traits.contains { if case .numbered = $0 { true } else { false } } ? columns[0].name : nil }

    // MARK: Creation

    package func creation(_ dialect: SQLDialect, isStaging: Bool = false) -> String {
        var lines = columns.map { definition($0, dialect) }
        var keyNames = key.map(\.name)
        if isPerReplica, dialect.isPostgreSQL {
            lines.insert("slot bigint NOT NULL", at: lines.count - 1)
            keyNames.append("slot")
        }
        if !hasRowID { lines.append("PRIMARY KEY (\(keyNames.joined(separator: ", ")))") }
        var (indices, options) = ("", dialect.isPostgreSQL || hasRowID ? "" : " WITHOUT ROWID")
        for trait in traits {
            switch trait {
            case .constraint(let text): lines.append(text)
            case .index(let index, let columns): indices += "\nCREATE INDEX \(index) ON \(name) \(columns);"
            case .fillFactor(let share): if dialect.isPostgreSQL { options = " WITH (fillfactor = \(share))" }
            case .numbered, .ascending, .perReplica, .filled: break
            }
        }
        let table = !isStaging ? "TABLE \(name)" : dialect.isPostgreSQL ? "TEMPORARY TABLE \(name)" : "TABLE staging.\(name)"
        return "\nCREATE \(table) (\n    \(lines.joined(separator: ",\n    "))\n)\(options);\(indices)\n"
    }

    private var hasRowID: Bool { keyLength == 1 && columns[0].kind == .integer }

    private func definition(_ column: Column, _ dialect: SQLDialect) -> String {
        let type =
            switch column.kind {
            case .integer: dialect.isPostgreSQL ? "bigint" : "INTEGER"
            case .counter: dialect.isPostgreSQL ? "bigint DEFAULT 0" : "INTEGER DEFAULT 0"
            case .text: dialect.isPostgreSQL ? "text COLLATE \"C\"" : "TEXT"
            case .document: dialect.isPostgreSQL ? "text COLLATE \"C\"" : "TEXT(400)"
            case .string: dialect.isPostgreSQL ? "text" : "TEXT"
            case .bytes: dialect.isPostgreSQL ? "bytea" : "BLOB"
            case .flag: dialect.isPostgreSQL ? "boolean" : "INTEGER"
            }
        guard hasRowID, column.name == columns[0].name else { return "\(column.name) \(type)\(column.isOptional ? "" : " NOT NULL")" }
        var numbering: Bool?
        for case .numbered(let isAlways) in traits { numbering = isAlways }
        let isAscending = traits.contains { if case .ascending = $0 { true } else { false } }
        guard dialect.isPostgreSQL, let isAlways = numbering else {
            return "\(column.name) \(type) PRIMARY KEY\(isAscending ? " AUTOINCREMENT" : "")"
        }
        return "\(column.name) \(type) GENERATED \(isAlways ? "ALWAYS" : "BY DEFAULT") AS IDENTITY PRIMARY KEY"
    }
}
