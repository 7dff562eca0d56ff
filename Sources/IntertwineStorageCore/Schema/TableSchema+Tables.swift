extension TableSchema {
    package static let item = TableSchema(
        "item", .items, key: 2, "lane integer,position integer,kind text,id text,variant text,body document,due integer?,counts string?",
        .index("item_form", on: "(kind, variant, position) WHERE lane = 1"), .index("item_due", on: "(due) WHERE due IS NOT NULL"))
    /// The scripts that bring the tables of items from version 1 to 2, and so on.
    package static func itemMigrations(_ dialect: SQLDialect) -> [String] {
        [
            "ALTER TABLE item ADD COLUMN due bigint; CREATE INDEX item_due ON item (due) WHERE due IS NOT NULL",
            itemRevision.creation(dialect), "ALTER TABLE item ADD COLUMN counts text",
            // Replicas of the build before read the table still, so it stays, empty.
            """
            UPDATE item SET body = \(HouseField.clearing("body")) WHERE (kind, id) IN (SELECT kind, id FROM campaign_creative);
            UPDATE item_revision SET body = \(HouseField.clearing("body")) WHERE (kind, id) IN (SELECT kind, id FROM campaign_creative);
            DELETE FROM campaign_creative
            """,
        ]
    }
    package static let section = TableSchema("section", .items, key: 1, "number integer,name text", .constraint("UNIQUE (name)"))
    package static let sectionKind = TableSchema(
        "section_kind", .items, key: 1, "kind text,section integer", .constraint("FOREIGN KEY (section) REFERENCES section (number)"))
    package static let source = TableSchema(
        "source", .items, key: 1, "number integer,name text", .constraint("UNIQUE (name)"), .numbered(always: true))
    package static let sourceItem = TableSchema(
        "source_item", .items, key: 3, "source integer,kind text,id text,digest integer,adopted flag",
        .constraint("FOREIGN KEY (source) REFERENCES source (number)"))
    package static let takedown = TableSchema(
        "takedown", .items, key: 2, "kind text,id text,at integer,reason string?,urls string?")
    package static let adListing = TableSchema(
        "ad_listing", .items, key: 1, "number integer,lane integer,position integer,kind text,id text",
        .numbered(always: true), .index("ad_listing_ad", on: "(kind, id)"), .index("ad_listing_place", on: "(lane, position, number)"))
}

extension TableSchema {
    /// PostgreSQL creates this table in its own way, as it does `allowance` and `listing`.
    package static let event = TableSchema(
        "event", .ledger, key: 1,
        """
        id integer,at integer,kind text,cell text,viewer text?,address string?,user_agent string?,verdict text,campaign string?,feed string?,\
        section string?,position integer?,layout string?,creative string?,advertiser string?,input string?
        """, .ascending)
    package static let rateCounter = TableSchema("allowance", .ledger, key: 1, "key bytes,until integer,used integer")
    package static let listing = TableSchema(
        "listing", .ledger, key: 1,
        "mark integer,viewer text,list text,cell text,performance text,at integer,until integer,leads flag,removes flag",
        .numbered(always: false))

    /// The numbers of viewers that have a cell on a list, and the changes since. See ``ListCounts``.
    package static let listCount = TableSchema("list_count", .ledger, key: 2, "cell text,list text,count integer")
    package static let listChange = TableSchema(
        "list_change", .ledger, key: 1, "id integer,cell text,list text,change integer", .numbered(always: true))

    package static let rollupCell = TableSchema(
        "rollup_cell", .ledger, key: 4, "day integer,verdict text,cell text,kind text,count integer", .perReplica, .fillFactor(70))
    package static let rollupDay = TableSchema(
        "rollup_day", .ledger, key: 3, "day integer,kind text,verdict text,count integer", .perReplica, .fillFactor(50))
    package static let rollupChoice = TableSchema(
        "rollup_choice", .ledger, key: 4, "day integer,field text,value text,kind text,count integer", .perReplica, .fillFactor(70))

    package static let idempotency = TableSchema(
        "idempotency", .ledger, key: 2, "scope text,key text,fingerprint text,answer bytes,expires integer,owner text?",
        .index("idempotency_expires", on: "(expires)"))
    package static let selection = TableSchema(
        "selection", .ledger, key: 1, "id text,cell text,viewer text?,expires integer,undone_at integer?",
        .index("selection_expires", on: "(expires)"))
    package static let selectionStep = TableSchema(
        "selection_step", .ledger, key: 2, "selection text,number integer,command string,undo bytes?",
        .constraint("FOREIGN KEY (selection) REFERENCES selection (id) ON DELETE CASCADE"))
    package static let client = TableSchema("client", .ledger, key: 2, "name text,digest text,capabilities string,at integer")

    package static let delivery = TableSchema(
        "delivery", .ledger, key: 3, "campaign text,kind text,span integer,count integer", .perReplica, .fillFactor(70))
    package static let exposure = TableSchema(
        "exposure", .ledger, key: 3, "viewer text,campaign text,at integer,count integer,until integer",
        .index("exposure_until", on: "(until)"))

    package static let reportMarker = TableSchema("report_marker", .ledger, key: 1, "tally text,marker integer", .filled)
    package static let reportAd = TableSchema(
        "report_ad", .ledger, key: 1, "id integer,cell text,campaign text,creative text,advertiser text", .numbered(always: false),
        .constraint("UNIQUE (cell, campaign, creative, advertiser)"))
    package static let reportPlace = TableSchema(
        "report_place", .ledger, key: 1, "id integer,feed text,section text,position integer", .numbered(always: false),
        .constraint("UNIQUE (feed, section, position)"))
    package static let reportTotal = TableSchema(
        "report_total", .ledger, key: 5, "combination integer,time integer,ad integer,place integer,kind text,count integer")
    package static let trackerCall = TableSchema(
        "tracker_call", .ledger, key: 1,
        """
        id integer,event integer,campaign string,kind string,url text,at integer,due integer,attempts counter,failure string?,\
        given_up integer?
        """, .numbered(always: false), .constraint("UNIQUE (event, url)"),
        .index("tracker_call_due", on: "(due) WHERE given_up IS NULL"),
        .index("tracker_call_given_up", on: "(given_up) WHERE given_up IS NOT NULL"))
}

extension TableSchema {
    package static let copied = [
        section, sectionKind, item, itemRevision, source, sourceItem, takedown, adListing, event, rollupCell, rollupDay,
        rollupChoice,
        rateCounter, idempotency, selection, selectionStep, listing, client, delivery, exposure, reportMarker, reportAd,
        reportPlace, reportTotal, trackerCall,
    ]
}
