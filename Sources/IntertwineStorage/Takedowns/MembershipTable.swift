import GRDB
package import IntertwineFeed

/// The table that says which ads belong to which campaigns. Rows remain after a campaign is removed; a release deletes them.
struct MembershipTable {
    private let insert: SQLStatement
    private let deleteItem: SQLStatement
    private let deleteCampaign: SQLStatement

    static func register(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("7: advertisements of campaigns") { database in
            try database.execute(
                sql: """
                    CREATE TABLE campaign_creative (
                        kind TEXT NOT NULL,     -- of the ad
                        id TEXT NOT NULL,
                        campaign TEXT NOT NULL, -- it may have been removed
                        PRIMARY KEY (kind, id, campaign)
                    ) WITHOUT ROWID;
                    CREATE INDEX campaign_creative_campaign ON campaign_creative (campaign);
                    """)
        }
    }

    static func all(_ database: any SQLConnection) throws -> [CampaignMembership] {
        let find = try SQLStatement(database, "SELECT kind, id, campaign FROM campaign_creative")
        defer { find.reset() }
        var memberships: [CampaignMembership] = []
        while try find.step() {
            memberships.append(CampaignMembership(kind: find.kind(0), id: find.text(1), campaign: find.text(2)))
        }
        return memberships
    }

    /// Returns true if an item belongs to a campaign, or is a campaign with members.
    static func has(_ key: ItemKey, _ database: any SQLConnection) throws -> Bool {
        let find = try SQLStatement(
            database,
            """
            SELECT 1 FROM campaign_creative WHERE kind = ?1 AND id = ?2
            UNION ALL SELECT 1 FROM campaign_creative WHERE ?1 = '\(Campaign.kind)' AND campaign = ?2 LIMIT 1
            """)
        defer { find.reset() }
        try find.bind(1, kind: key.kind)
        try find.bind(2, key.id)
        return try find.step()
    }

    init(_ database: any SQLConnection) throws {
        insert = try SQLStatement(
            database, "INSERT INTO campaign_creative (kind, id, campaign) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")
        deleteItem = try SQLStatement(database, "DELETE FROM campaign_creative WHERE kind = ?1 AND id = ?2")
        deleteCampaign = try SQLStatement(database, "DELETE FROM campaign_creative WHERE campaign = ?1")
    }

    func add(_ membership: CampaignMembership) throws {
        try insert.bind(1, kind: membership.kind)
        try insert.bind(2, membership.id)
        try insert.bind(3, membership.campaign)
        try insert.run()
    }

    /// Releases an ad, or all ads of a campaign.
    ///
    /// - Returns: true if a row was deleted.
    func remove(_ key: ItemKey) throws -> Bool {
        guard key.kind == Campaign.kind else {
            try deleteItem.bind(1, kind: key.kind)
            try deleteItem.bind(2, key.id)
            try deleteItem.run()
            return deleteItem.changes > 0
        }
        try deleteCampaign.bind(1, key.id)
        try deleteCampaign.run()
        return deleteCampaign.changes > 0
    }
}

extension SQLiteSnapshot {
    func memberships() throws -> [CampaignMembership] { try MembershipTable.all(database) }
}

extension SQLiteStore {
    package func remember(_ memberships: [CampaignMembership]) async throws {
        try await write { database in
            let table = try MembershipTable(database)
            for membership in memberships { try table.add(membership) }
        }
    }

    package func isReleasable(_ key: ItemKey) async throws -> Bool {
        try await reading(for: .background) { database in
            let isTakenDown = try TakedownTable(database).takedown(of: key) != nil
            return try isTakenDown || MembershipTable.has(key, database) || !TakedownTable.releases(of: key, database).isEmpty
        }
    }
}
