internal import IntertwineFeed

extension DeliveryBook {
    var countParameters: [SQLValue] {
        [
            .texts(asked.map(\.campaign.text)), .texts(asked.map(\.kind.rawValue)), .integers(asked.map(\.spans.lowerBound)),
            .integers(asked.map(\.spans.upperBound)), .integers(asked.indices.map(Int64.init)),
        ]
    }

    static func countQuestion(_ dialect: SQLDialect) -> String {
        """
        SELECT asked.number, CAST(coalesce((
            SELECT sum(count) FROM delivery
            WHERE delivery.campaign = asked.campaign AND delivery.kind = asked.kind AND span >= asked.first AND span < asked.until), 0) AS bigint)
        FROM \(dialect.table("asked", ["campaign", "kind", "first", "until", "number"]))
        """
    }

    var exposureParameters: [SQLValue] {
        [
            .texts(askedExposures.map(\.viewer.viewer.text)), .texts(askedExposures.map(\.viewer.campaign.text)),
            .integers(askedExposures.map(\.since)), .integers(askedExposures.indices.map(Int64.init)),
        ]
    }

    static func exposureQuestion(_ dialect: SQLDialect) -> String {
        """
        SELECT asked.number, exposure.at, exposure.count FROM \(dialect.table("asked", ["viewer", "campaign", "since", "number"]))
        JOIN exposure ON exposure.viewer = asked.viewer AND exposure.campaign = asked.campaign AND exposure.at > asked.since
        """
    }
}
