internal import IntertwineFeed
internal import IntertwineStorageCore

/// Which advertisements belong to campaigns, as SQLite's store has them: see `MembershipTable` there.
enum MembershipTable {
    static func all(_ snapshot: PostgresSnapshot) throws -> [CampaignMembership] {
        let rows = try snapshot.rows("SELECT kind, id, campaign FROM campaign_creative")
        return (0..<rows.count).map { row in
            CampaignMembership(kind: rows.kind(row, 0), id: rows.text(row, 1), campaign: rows.text(row, 2))
        }
    }

    static func add(_ memberships: [CampaignMembership], _ connection: PostgresConnection) throws {
        try connection.query(
            "INSERT INTO campaign_creative (kind, id, campaign) SELECT * FROM unnest($1, $2, $3) ON CONFLICT DO NOTHING",
            .kinds(memberships.map(\.kind)), .texts(memberships.map(\.id)), .texts(memberships.map(\.campaign)))
    }

    /// Ends takedowns, and releases ads from the campaigns that they belong to, also from campaigns that are taken down.
    ///
    /// - Returns: The number of items that were taken down, or belonged to a campaign.
    static func release(_ keys: [ItemKey], _ connection: PostgresConnection) throws -> Int {
        let lock = try connection.query("SELECT id, urls FROM takedown WHERE kind = $1 ORDER BY id FOR UPDATE", .kind(Campaign.kind))
        var campaigns = blocked(lock)
        var released: Set<ItemKey> = []
        for key in keys where key.kind != Campaign.kind {
            for index in campaigns.indices {
                guard let targets = campaigns[index].releasing(CreativeID(kind: key.kind, id: key.id)) else { continue }
                try connection.query(
                    "UPDATE takedown SET urls = $3 WHERE kind = $1 AND id = $2", .kind(Campaign.kind), .text(campaigns[index].id),
                    .text(PostgresFeedStore.list(targets)))
                campaigns[index] = BlockedItem(id: campaigns[index].id, targets: targets)
                released.insert(key)
            }
        }
        let rows = try connection.query(
            """
            WITH k AS (SELECT * FROM unnest($1, $2) AS k (kind, id)),
                t AS (DELETE FROM takedown USING k WHERE takedown.kind = k.kind AND takedown.id = k.id RETURNING k.kind, k.id),
                m AS (
                    DELETE FROM campaign_creative AS c USING k
                    WHERE c.kind = k.kind AND c.id = k.id OR k.kind = '\(Campaign.kind)' AND c.campaign = k.id RETURNING k.kind, k.id
                )
            SELECT kind, id FROM t UNION SELECT kind, id FROM m
            """, .kinds(keys.map(\.kind)), .texts(keys.map(\.id)))
        return released.union((0..<rows.count).map { ItemKey(kind: rows.kind($0, 0), id: rows.text($0, 1)) }).count
    }

    static func blocked(_ rows: PostgresRows) -> [BlockedItem] {
        (0..<rows.count).map { row in
            BlockedItem(id: rows.text(row, 0), targets: rows.optionalText(row, 1).map(PostgresFeedStore.targets(ofTakedown:)) ?? [])
        }
    }

    static func isReleasable(_ key: ItemKey, _ snapshot: PostgresSnapshot) throws -> Bool {
        let rows = try snapshot.rows(
            """
            SELECT 1 FROM takedown WHERE kind = $1 AND id = $2
            UNION ALL SELECT 1 FROM campaign_creative WHERE kind = $1 AND id = $2
            UNION ALL SELECT 1 FROM campaign_creative WHERE $1 = '\(Campaign.kind)' AND campaign = $2 LIMIT 1
            """, .kind(key.kind), .text(key.id))
        guard rows.isEmpty, key.kind != Campaign.kind else { return !rows.isEmpty }
        return try snapshot.blockedItems(kind: Campaign.kind, limit: PostgresFeedStore.takenDownLimit).contains {
            $0.releasing(CreativeID(kind: key.kind, id: key.id)) != nil
        }
    }
}

extension PostgresSnapshot {
    func memberships() throws -> [CampaignMembership] { try MembershipTable.all(self) }
}
