/// The tables of the items.
extension TableSchema {
    /// One tree ordered by lane (the stream) and position: lane 0 is content, 1 ads, then the sections by their number. Positions are sparse.
    /// The body has the other fields of the import format, and the variant is its type.
    package static let item = TableSchema(
        "item", .items, key: 2, "lane integer,position integer,kind text,id text,variant text,body document",
        .index("item_form", on: "(kind, variant, position) WHERE lane = 1"))
    package static let section = TableSchema("section", .items, key: 1, "number integer,name text", .constraint("UNIQUE (name)"))
    /// The kinds of sections. Other kinds are in the lane of their kind.
    package static let sectionKind = TableSchema(
        "section_kind", .items, key: 1, "kind text,section integer", .constraint("FOREIGN KEY (section) REFERENCES section (number)"))
    package static let source = TableSchema(
        "source", .items, key: 1, "number integer,name text", .constraint("UNIQUE (name)"), .numbered(always: true))
    /// The digest is that of the item in the source. An adopted item existed before the source.
    package static let sourceItem = TableSchema(
        "source_item", .items, key: 3, "source integer,kind text,id text,digest integer,adopted flag",
        .constraint("FOREIGN KEY (source) REFERENCES source (number)"))
    /// The links are a JSON array, and NULL if the item was not stored.
    package static let takedown = TableSchema(
        "takedown", .items, key: 2, "kind text,id text,at integer,reason string?,urls string?")
    /// The ads of campaigns, which may have been removed.
    package static let campaignCreative = TableSchema(
        "campaign_creative", .items, key: 3, "kind text,id text,campaign text", .index("campaign_creative_campaign", on: "(campaign)"))
    /// The positions of pinned ads: the lane of the content, and the position of the last content item before the ad in its import. The ad
    /// keeps the position if that item is removed. The number orders the ads of one position. Rows of removed ads are not read.
    package static let adListing = TableSchema(
        "ad_listing", .items, key: 1, "number integer,lane integer,position integer,kind text,id text",
        .numbered(always: true), .index("ad_listing_ad", on: "(kind, id)"), .index("ad_listing_place", on: "(lane, position, number)"))
}

/// The tables of the ledger. Times are milliseconds since 1970-01-01 UTC, and days are days since then.
extension TableSchema {
    /// PostgreSQL creates this table in its own way, as it does `allowance` and `listing`.
    package static let event = TableSchema(
        "event", .ledger, key: 1,
        """
        id integer,at integer,kind text,cell text,viewer text?,address string?,user_agent string?,verdict text,campaign string?,feed string?,\
        section string?,position integer?,layout string?,creative string?,advertiser string?,input string?
        """, .ascending)
    package static let allowance = TableSchema("allowance", .ledger, key: 1, "key bytes,until integer,used integer")
    package static let listing = TableSchema(
        "listing", .ledger, key: 1,
        "mark integer,viewer text,list text,cell text,performance text,at integer,until integer,leads flag,removes flag",
        .numbered(always: false))

    /// Counts of one day. Reports read the counted ads of a day, which are adjacent.
    package static let rollupCell = TableSchema(
        "rollup_cell", .ledger, key: 4, "day integer,verdict text,cell text,kind text,count integer", .perReplica, .fillFactor(70))
    package static let rollupDay = TableSchema(
        "rollup_day", .ledger, key: 3, "day integer,kind text,verdict text,count integer", .perReplica, .fillFactor(50))
    /// Totals of counted events, by choice fields of input.
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
    /// Capabilities of registered clients, by digest.
    package static let client = TableSchema("client", .ledger, key: 2, "name text,digest text,capabilities string,at integer")

    /// Counted deliveries of campaigns by quarters of an hour, which add up to days of any zone. The span -1 is the total.
    package static let delivery = TableSchema(
        "delivery", .ledger, key: 3, "campaign text,kind text,span integer,count integer", .perReplica, .fillFactor(70))
    /// Impressions of viewers, for campaigns with frequency caps.
    package static let exposure = TableSchema(
        "exposure", .ledger, key: 3, "viewer text,campaign text,at integer,count integer,until integer",
        .index("exposure_until", on: "(until)"))
    /// Ads that campaigns of a file have named and that existed then.
    package static let knownCreative = TableSchema("known_creative", .ledger, key: 2, "kind text,id text")

    /// The last event that totals and trackers include.
    package static let reportMarker = TableSchema("report_marker", .ledger, key: 1, "tally text,marker integer", .filled)
    package static let reportAd = TableSchema(
        "report_ad", .ledger, key: 1, "id integer,cell text,campaign text,creative text,advertiser text", .numbered(always: false),
        .constraint("UNIQUE (cell, campaign, creative, advertiser)"))
    package static let reportPlace = TableSchema(
        "report_place", .ledger, key: 1, "id integer,feed text,section text,position integer", .numbered(always: false),
        .constraint("UNIQUE (feed, section, position)"))
    /// Totals of counted events, by the combinations of `ReportTotals`. The time is days or hours since 1970-01-01 UTC.
    package static let reportTotal = TableSchema(
        "report_total", .ledger, key: 5, "combination integer,time integer,ad integer,place integer,kind text,count integer")
    /// Pending and abandoned tracker calls, with the time of the event and that of the next attempt. A process that leases a call moves it.
    package static let trackerCall = TableSchema(
        "tracker_call", .ledger, key: 1,
        """
        id integer,event integer,campaign string,kind string,url text,at integer,due integer,attempts counter,failure string?,\
        given_up integer?
        """, .numbered(always: false), .constraint("UNIQUE (event, url)"),
        .index("tracker_call_due", on: "(due) WHERE given_up IS NULL"),
        .index("tracker_call_given_up", on: "(given_up) WHERE given_up IS NOT NULL"))

    // MARK: The state of running processes, which copies omit

    /// Reservations of a process for campaigns, without an impression so far, and its remaining budget lease, which is void after the process has
    /// ended. Each process writes its own rows.
    package static let reservation = TableSchema(
        "reservation", .ledger, key: 2, "process text,campaign text,count integer,until integer,allowed integer")
    /// Impressions that another process than the reserving one received, until that process reads them.
    package static let seenPlace = TableSchema(
        "seen_place", .ledger, key: 4, "giver integer,slot integer,address integer,campaign text,count integer,until integer")
    /// Served ads of a process per viewer, for campaigns with frequency caps.
    package static let claim = TableSchema(
        "claim", .ledger, key: 4, "viewer text,process text,campaign text,at integer,count integer,until integer",
        .index("claim_until", on: "(until)"))
    /// The ads of pages with reservations, for other processes that serve the same page.
    package static let givenPage = TableSchema(
        "given_page", .ledger, key: 2, "viewer text,page integer,given bytes,until integer", .index("given_page_until", on: "(until)"))
}

extension TableSchema {
    /// The tables that copies contain, in an order in which a row comes after the rows to which it refers.
    package static let copied = [
        section, sectionKind, item, source, sourceItem, takedown, campaignCreative, adListing, event, rollupCell, rollupDay, rollupChoice,
        allowance, idempotency, selection, selectionStep, listing, client, delivery, exposure, knownCreative, reportMarker, reportAd,
        reportPlace, reportTotal, trackerCall,
    ]
}
