/// The field `house` of ads, `false` for an ad that campaigns alone show. The body has it after the schedule.
package enum HouseField {
    static let name = "house"
    package static let field = ItemField(name) { fields throws(ItemError) in _ = try fields.flag(name) }
    private static let start = Array(#"{"house":false"#.utf8)

    /// It is called for each ad of a rotation, so it parses only the bodies of ads with a schedule.
    static func isFalse(in body: some Collection<UInt8>) -> Bool {
        body.starts(with: start) || ItemSchedule.isIn(body) && (try? ItemFields(Array(body)).flag(name)) == false
    }

    package static func isTrue(in body: [UInt8]) -> Bool { !isFalse(in: body) }

    /// The body with `false`, in SQL.
    package static func clearing(_ body: String) -> String {
        """
        CASE WHEN \(ItemSchedule.isIn(column: body)) THEN substr(\(body), 1, length(\(body)) - 1) || ',"house":false}'
            WHEN \(body) = '{}' THEN '{"house":false}' ELSE '{"house":false,' || substr(\(body), 2) END
        """
    }
}

extension FeedItem {
    /// False for an ad that campaigns alone show.
    package var isHouseAd: Bool { !HouseField.isFalse(in: body) }
}

extension ValidatedItem {
    package var isHouseAd: Bool { !HouseField.isFalse(in: body) }
}
