internal import IntertwinePrimitives

/// The time in which an item is public: the fields `publishAt`, `expireAt` and `draft`, which every kind has.
/// The body of an item begins with them. Why: exports, backups, copies and digests of the body contain them without further code.
package struct ItemSchedule: Sendable, Hashable {
    static let times = ["publishAt", "expireAt"]
    package static let names = times + ["draft"]

    /// The times in milliseconds since 1970-01-01 UTC.
    package private(set) var publishAt: Int64?
    package private(set) var expireAt: Int64?
    package fileprivate(set) var isDraft = false

    /// The schedule that a body begins with; nil if it has none.
    package init?(body: some Collection<UInt8>) {
        guard Self.isIn(body), let fields = try? ItemFields(Array(body)) else { return nil }
        try? self.init(fields)
    }

    private init(_ fields: ItemFields) throws(ItemError) {
        publishAt = try Self.moment("publishAt", in: fields)?.moment
        expireAt = try Self.moment("expireAt", in: fields)?.moment
        isDraft = try fields.flag("draft") ?? false
    }

    private static func moment(_ name: String, in fields: ItemFields) throws(ItemError) -> (text: ArraySlice<UInt8>, moment: Int64)? {
        if fields.base != nil, let token = try fields.token(name) {
            let value = SourceValue(token, in: fields.object)
            if SourceForm.isNoDate(value, in: name, as: nil) { return nil }
            if let text = SourceForm.plain.moment(of: value, in: name) {
                return Timestamp.milliseconds(of: text).map { (Array(text.utf8)[...], $0) }
            }
        }
        guard let text = try fields.optionalText(name, limit: 64) else { return nil }
        guard let moment = Timestamp.milliseconds(of: String(decoding: text, as: UTF8.self)) else {
            throw ItemError(field: name, reason: "must be a time in RFC 3339 format, such as 2027-01-31T08:00:00Z")
        }
        return (text, moment)
    }

    /// Returns true if a body begins with one of the fields. It is called for each row of a page, so it parses nothing.
    package static func isIn(_ body: some Collection<UInt8>) -> Bool {
        guard body.count > 8 else { return false }
        let start = body.index(body.startIndex, offsetBy: 2)
        return switch body[start] {
        case UInt8(ascii: "p"): body[start...].starts(with: "publishAt\"".utf8)
        case UInt8(ascii: "e"): body[start...].starts(with: "expireAt\"".utf8)
        case UInt8(ascii: "d"): body[start...].starts(with: "draft\"".utf8)
        default: false
        }
    }

    /// The condition of ``isIn(_:)`` in SQL.
    package static func isIn(column body: String) -> String {
        names.map { "substr(\(body), 3, \($0.utf8.count + 1)) = '\($0)\"'" }.joined(separator: " OR ")
    }

    package func isPublic(at now: Int64) -> Bool { !isDraft && publishAt ?? .min <= now && now < expireAt ?? .max }

    /// The reason why the item is not public; nil if it is.
    package func state(at now: Int64) -> String? {
        isPublic(at: now) ? nil : isDraft ? "draft" : publishAt ?? .min > now ? "scheduled" : "expired"
    }

    /// The next time at which ``isPublic(at:)`` may change.
    package func next(after now: Int64) -> Int64? {
        isDraft ? nil : [publishAt, expireAt].compactMap { $0 }.filter { $0 > now }.min()
    }

    package static let fields =
        times.map { name in ItemField(name) { fields throws(ItemError) in _ = try moment(name, in: fields) } }
        + [ItemField("draft") { fields throws(ItemError) in _ = try ItemSchedule(fields) }]

    /// Returns the item with the schedule of its fields at the start of its body, and for an ad with ``HouseField`` after it.
    static func adding(_ fields: ItemFields, to item: ValidatedItem) throws(ItemError) -> ValidatedItem {
        let names = item.stream == .advertisements ? names + [HouseField.name] : names
        guard fields.object.members.contains(where: { member in names.contains { fields.object.matches(member.name, $0) } }) else {
            return item
        }
        let schedule = try ItemSchedule(fields)
        if let start = schedule.publishAt, let end = schedule.expireAt, end <= start {
            throw ItemError(field: "expireAt", reason: "must be later than publishAt", code: .outOfRange)
        }
        var start = ItemBody()
        for name in Self.times { start.append(name, try moment(name, in: fields)?.text) }
        if schedule.isDraft { start.append("draft", literal: Array("true".utf8)[...]) }
        if item.stream == .advertisements, let isHouseAd = try fields.flag(HouseField.name) {
            start.append(HouseField.name, literal: Array("\(isHouseAd)".utf8)[...])
        }
        let bytes = start.finish().dropLast()
        guard bytes.count > 1 else { return item }
        var item = item
        item.body = bytes + (item.body.count > 2 ? [UInt8(ascii: ",")] : []) + item.body.dropFirst()
        return item
    }
}

extension ValidatedItem {
    package var isScheduled: Bool { ItemSchedule.isIn(body) }
}

/// A view of the content as of a moment, with drafts if requested, whatever is public now. Ads are those of the present: what is read from
/// them is cached for all pages.
final class PreviewSnapshot: StoreSnapshot {
    private let snapshot: any StoreSnapshot
    private let moment: Int64
    private let showsDrafts: Bool

    init(_ snapshot: any StoreSnapshot, at moment: Int64, showsDrafts: Bool) {
        (self.snapshot, self.moment, self.showsDrafts) = (snapshot, moment, showsDrafts)
    }

    private func isShown(_ item: FeedItem) -> Bool {
        guard var schedule = ItemSchedule(body: item.body) else { return true }
        if showsDrafts { schedule.isDraft = false }
        return schedule.isPublic(at: moment)
    }

    func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
        guard let hidden = query.rows.hidden else { return try snapshot.visit(query, body) }
        var (shown, all) = (0, query)
        all.limit = max(query.limit, RowBatch.size)
        while shown < query.limit {
            var other = all
            other.rows = hidden
            let items = (try snapshot.items(all) + snapshot.items(other)).sorted {
                query.direction == .forward ? $0.sortPosition < $1.sortPosition : $1.sortPosition < $0.sortPosition
            }
            for item in items.prefix(all.limit) where shown < query.limit && isShown(item) {
                shown += 1
                try item.withRow(body)
            }
            guard items.count >= all.limit else { break }
            all.anchor = items[all.limit - 1].sortPosition
        }
    }

    func item(kind: String, id: String) throws -> FeedItem? {
        try snapshot.storedItem(kind: kind, id: id).flatMap { isShown($0) ? $0 : nil }
    }

    func count(in stream: StreamID) throws -> Int { try snapshot.count(in: stream) }

    func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
        try snapshot.listings(in: stream, between: positions, limit: limit)
    }

    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] { try snapshot.blockedItems(kind: kind, limit: limit) }

    func counts() throws -> [ItemType: Int] { try snapshot.counts() }
}

extension StreamID {
    /// The stream of the items that belong to this one and are not public.
    package var hidden: StreamID { StreamID(rawValue: -1 - rawValue) }
}

extension RowQuery.Rows {
    fileprivate var hidden: RowQuery.Rows? {
        switch self {
        case .stream(.advertisements), .sorted(.advertisements, _), .type: nil
        case .stream(let stream): .stream(stream.hidden)
        case .sorted(let stream, let field): .sorted(stream.hidden, by: field)
        }
    }
}
