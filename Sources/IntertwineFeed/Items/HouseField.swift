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

    package static func isIn(_ body: [UInt8]) -> Bool {
        body.starts(with: #"{"house":"#.utf8) || ItemSchedule.isIn(body) && (try? ItemFields(body).flag(name)) != nil
    }

    /// The body in place of a stored one. Why: an import or a source that omits the field must not turn ads of campaigns into house ads.
    package static func kept(in body: [UInt8], from stored: [UInt8]) -> [UInt8] {
        guard isFalse(in: stored), !isIn(body) else { return body }
        if ItemSchedule.isIn(body) { return body.dropLast() + #","house":false}"#.utf8 }
        return start + (body.count > 2 ? "," : "").utf8 + body.dropFirst()
    }

    /// The statement that does the same for the table `staged` of an import.
    package static var keeping: String {
        func isIn(_ column: String, _ value: String = "") -> String {
            let text = "\"\(name)\":\(value)"
            return """
                (substr(\(column), 1, \(text.utf8.count + 1)) = '{\(text)'
                    OR (\(ItemSchedule.isIn(column: column))) AND replace(\(column), ',\(text)', '') <> \(column))
                """
        }
        return """
            UPDATE staged SET body = \(clearing("staged.body")) FROM item AS i WHERE staged.lane = \(StreamID.advertisements.rawValue)
            AND i.kind = staged.kind AND i.id = staged.id AND \(isIn("i.body", "false")) AND NOT \(isIn("staged.body"))
            """
    }

    /// The body with `false`, in SQL.
    package static func clearing(_ body: String) -> String {
        """
        CASE WHEN \(ItemSchedule.isIn(column: body)) THEN substr(\(body), 1, length(\(body)) - 1) || ',"house":false}'
            WHEN \(body) = '{}' THEN '{"house":false}' ELSE '{"house":false,' || substr(\(body), 2) END
        """
    }
}

extension FeedItem {
    package var isHouseAd: Bool { !HouseField.isFalse(in: body) }
}

extension ValidatedItem {
    package var isHouseAd: Bool { !HouseField.isFalse(in: body) }
}
