/// A table that exists in files and in PostgreSQL, with the differences between the two.
package struct CopiedTable: Sendable {
    /// A database file that contains tables.
    package enum File: Sendable, CaseIterable {
        case items, ledger
    }

    package enum Column: Sendable {
        case integer(String), text(String), bytes(String)
        /// 0 or 1 in a file, a boolean in PostgreSQL.
        case flag(String)

        package var name: String {
            switch self {
            case .integer(let name), .text(let name), .bytes(let name), .flag(let name): name
            }
        }
    }

    package var name: String
    package var content: CopiedTable.File
    /// The columns, with those of the key first.
    package var columns: [Column]
    /// The number of key columns.
    package var keyLength: Int
    /// Replicas have rows of their own, which are counted together: the last column is the count.
    package var isPartial = false
    /// New tables have rows, which are replaced.
    package var isFilled = false
    /// The sequence that numbers rows in PostgreSQL.
    package var numbers: String?

    /// Tables whose rows refer to rows of this one.
    package var dependents: [String] {
        switch name {
        case "section": ["section_kind"]
        case "source": ["source_item"]
        case "selection": ["selection_step"]
        default: []
        }
    }

    package var key: [Column] { Array(columns.prefix(keyLength)) }

    /// In an order in which what is referred to comes first.
    package static let all =
        [
            CopiedTable(name: "section", content: .items, columns: [.integer("number"), .text("name")], keyLength: 1),
            CopiedTable(name: "section_kind", content: .items, columns: [.text("kind"), .integer("section")], keyLength: 1),
            CopiedTable(
                name: "item", content: .items,
                columns: [.integer("lane"), .integer("position"), .text("kind"), .text("id"), .text("variant"), .text("body")], keyLength: 2
            ),
            CopiedTable(
                name: "source", content: .items, columns: [.integer("number"), .text("name")], keyLength: 1, numbers: "number"),
            CopiedTable(
                name: "source_item", content: .items,
                columns: [.integer("source"), .text("kind"), .text("id"), .integer("digest"), .flag("adopted")], keyLength: 3),
            CopiedTable(
                name: "takedown", content: .items,
                columns: [.text("kind"), .text("id"), .integer("at"), .text("reason"), .text("urls")], keyLength: 2),
            CopiedTable(
                name: "campaign_creative", content: .items, columns: [.text("kind"), .text("id"), .text("campaign")], keyLength: 3),
            CopiedTable(
                name: "ad_listing", content: .items,
                columns: [.integer("number"), .integer("lane"), .integer("position"), .text("kind"), .text("id"), .integer("session")],
                keyLength: 1, numbers: "number"),
        ] + ledger + reports

    private static let ledger = [
        CopiedTable(
            name: "event", content: .ledger,
            columns: [
                .integer("id"), .integer("at"), .text("kind"), .text("cell"), .text("viewer"), .text("address"), .text("user_agent"),
                .text("verdict"), .text("campaign"), .text("feed"), .text("section"), .integer("position"), .text("layout"),
                .text("creative"), .text("advertiser"), .text("input"),
            ], keyLength: 1),
        CopiedTable(
            name: "rollup_cell", content: .ledger,
            columns: [.integer("day"), .text("verdict"), .text("cell"), .text("kind"), .integer("count")], keyLength: 4, isPartial: true),
        CopiedTable(
            name: "rollup_day", content: .ledger, columns: [.integer("day"), .text("kind"), .text("verdict"), .integer("count")],
            keyLength: 3, isPartial: true),
        CopiedTable(
            name: "rollup_choice", content: .ledger,
            columns: [.integer("day"), .text("field"), .text("value"), .text("kind"), .integer("count")], keyLength: 4, isPartial: true),
        CopiedTable(
            name: "allowance", content: .ledger, columns: [.bytes("key"), .integer("until"), .integer("used")], keyLength: 1),
        CopiedTable(
            name: "idempotency", content: .ledger,
            columns: [.text("scope"), .text("key"), .text("fingerprint"), .bytes("answer"), .integer("expires"), .text("owner")],
            keyLength: 2),
        CopiedTable(
            name: "selection", content: .ledger,
            columns: [.text("id"), .text("cell"), .text("viewer"), .integer("expires"), .integer("undone_at")], keyLength: 1),
        CopiedTable(
            name: "selection_step", content: .ledger,
            columns: [.text("selection"), .integer("number"), .text("command"), .bytes("undo")], keyLength: 2),
        CopiedTable(
            name: "listing", content: .ledger,
            columns: [
                .integer("mark"), .text("viewer"), .text("list"), .text("cell"), .text("performance"), .integer("at"), .integer("until"),
                .flag("leads"), .flag("removes"),
            ], keyLength: 1, numbers: "mark"),
        CopiedTable(
            name: "client", content: .ledger, columns: [.text("name"), .text("digest"), .text("capabilities"), .integer("at")], keyLength: 2
        ),
        CopiedTable(
            name: "delivery", content: .ledger, columns: [.text("campaign"), .text("kind"), .integer("span"), .integer("count")],
            keyLength: 3, isPartial: true),
        CopiedTable(
            name: "exposure", content: .ledger,
            columns: [.text("viewer"), .text("campaign"), .integer("at"), .integer("count"), .integer("until")], keyLength: 3),
        CopiedTable(name: "known_creative", content: .ledger, columns: [.text("kind"), .text("id")], keyLength: 2),
    ]

    private static let reports = [
        CopiedTable(
            name: "report_marker", content: .ledger, columns: [.text("tally"), .integer("marker")], keyLength: 1, isFilled: true),
        CopiedTable(
            name: "report_ad", content: .ledger,
            columns: [.integer("id"), .text("cell"), .text("campaign"), .text("creative"), .text("advertiser")], keyLength: 1, numbers: "id"
        ),
        CopiedTable(
            name: "report_place", content: .ledger, columns: [.integer("id"), .text("feed"), .text("section"), .integer("position")],
            keyLength: 1, numbers: "id"),
        CopiedTable(
            name: "report_total", content: .ledger,
            columns: [
                .integer("combination"), .integer("time"), .integer("ad"), .integer("place"), .text("kind"), .integer("count"),
            ], keyLength: 5),
        CopiedTable(
            name: "report_viewers", content: .ledger,
            columns: [.text("grouping"), .text("key"), .integer("day"), .bytes("sketch")], keyLength: 3),
        CopiedTable(
            name: "tracker_call", content: .ledger,
            columns: [
                .integer("id"), .integer("event"), .text("campaign"), .text("kind"), .text("url"), .integer("at"), .integer("due"),
                .integer("attempts"), .text("failure"), .integer("given_up"),
            ], keyLength: 1, numbers: "id"),
    ]
}

extension CopiedTable.Column {
    /// The type of the column's values in a file.
    package var kindInFile: TableValue.Kind {
        switch self {
        case .integer, .flag: .integer
        case .text: .text
        case .bytes: .bytes
        }
    }
}

/// A value of a column in a row.
package enum TableValue: Sendable, Hashable, Codable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])

    package enum Kind: Sendable {
        case integer, text, bytes
    }
}
