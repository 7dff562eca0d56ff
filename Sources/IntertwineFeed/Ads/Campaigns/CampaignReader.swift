package import IntertwinePrimitives

package struct CampaignError: Error, Sendable, Hashable {
    package var path: [String]
    package var reason: String

    package init(_ path: [String], _ reason: String) {
        (self.path, self.reason) = (path, reason)
    }
}

package struct ValidTargets: Sendable, Hashable {
    package var feeds: [String]
    package var sections: [String]

    package init(feeds: [String], sections: [String]) {
        (self.feeds, self.sections) = (feeds, sections)
    }
}

package struct CampaignReader {
    package static let members = [
        "advertiser", "creatives", "paused", "starts", "ends", "zone", "priority", "weight", "goal", "price", "pacing", "caps", "targeting",
        "labels",
        "disclosure", Trackers.impressionField, Trackers.clickField,
    ]
    private static let others = ["kind", "id"]
    private static let nameLimit = 64
    private static let creativeLimit = 64
    private static let listLimit = 200

    private let validTargets: ValidTargets?
    private let creatives: CreativeNames
    private let allowed: [String]
    package private(set) var errors: [CampaignError] = []

    package init(validTargets: ValidTargets?, creatives: CreativeNames = CreativeNames(hasOthers: true), isItem: Bool = true) {
        (self.validTargets, self.creatives) = (validTargets, creatives)
        allowed = Self.members + (isItem ? Self.others : [])
    }

    private static func isName(_ text: String) -> Bool {
        guard (1...nameLimit).contains(text.utf8.count), let first = text.utf8.first, isAlphanumeric(first) else { return false }
        return text.utf8.allSatisfy { isAlphanumeric($0) || "_.-".utf8.contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    package mutating func campaign(_ id: String, from value: JSONValue) -> Campaign? {
        let before = errors.count
        if !Self.isName(id) {
            addError(
                [],
                "'\(ItemError.shown(id))' is not a valid campaign id: letters, digits, _, . and -, at most \(Self.nameLimit), a letter or digit first"
            )
        }
        guard let fields = object(value, [], "a campaign", among: allowed) else { return nil }
        var campaign = Campaign(
            id: id, advertiser: text(fields["advertiser"], ["advertiser"], isRequired: true) ?? "",
            creatives: identifiers(fields["creatives"], ["creatives"]))
        campaign.isPaused = flag(fields["paused"], ["paused"]) ?? false
        campaign.starts = moment(fields["starts"], ["starts"])
        campaign.ends = moment(fields["ends"], ["ends"])
        if let starts = campaign.starts, let ends = campaign.ends, ends <= starts {
            addError(["ends"], "must be after starts")
        }
        if let name = text(fields["zone"], ["zone"]) {
            if let zone = CampaignTimeZone(name) { campaign.zone = zone } else { notAllowed(["zone"], name, CampaignTimeZone.allowed) }
        }
        campaign.priority = choice(fields["priority"], ["priority"]) ?? .standard
        campaign.weight = number(fields["weight"], ["weight"], 1...1_000_000) ?? 1
        campaign.price = price(fields["price"])
        campaign.goal = goal(fields["goal"], campaign.price)
        campaign.caps = caps(fields["caps"])
        campaign.targeting = targeting(fields["targeting"])
        campaign.labels = texts(fields["labels"], ["labels"])
        campaign.disclosure = disclosure(fields["disclosure"], of: campaign.advertiser)
        campaign.trackers.impression = trackers(fields[Trackers.impressionField], [Trackers.impressionField])
        campaign.trackers.click = trackers(fields[Trackers.clickField], [Trackers.clickField])
        let pacing: Campaign.Pacing? = choice(fields["pacing"], ["pacing"])
        let cannotPace = campaign.goal?.total != nil && campaign.ends == nil
        if pacing == .even, cannotPace { addError(["pacing"], "even pacing of a total goal requires ends") }
        if pacing == .even, campaign.goal == nil { addError(["pacing"], "even pacing requires a goal") }
        campaign.pacing = pacing ?? (campaign.goal == nil || cannotPace ? .asap : .even)
        if campaign.pacing == .even, campaign.goal?.total != nil, campaign.starts == nil {
            addError(["starts"], "is missing: even pacing of a total goal requires it")
        }
        return errors.count == before ? campaign : nil
    }

    private mutating func goal(_ value: JSONValue?, _ price: CampaignPrice?) -> Campaign.Goal? {
        let members = ["unit", "total", "daily", "budget", "dailyBudget"]
        guard let value, let fields = object(value, ["goal"], "a goal", among: members) else { return nil }
        let range = 1...1_000_000_000_000
        let paid = price?.model.unit
        let hasBudget = fields["budget"] != nil || fields["dailyBudget"] != nil
        let unit: Campaign.Goal.Unit? = choice(fields["unit"], ["goal", "unit"])
        var goal = Campaign.Goal(
            unit: unit ?? (hasBudget ? paid : nil) ?? .impressions, total: number(fields["total"], ["goal", "total"], range),
            daily: number(fields["daily"], ["goal", "daily"], range))
        if fields["total"] == nil, fields["daily"] == nil, !hasBudget {
            addError(["goal"], "total or daily is missing: the number of events, at least 1")
        }
        guard hasBudget else { return goal }
        guard let price, let paid else {
            addError(["goal"], "a budget requires a price")
            return nil
        }
        if goal.unit != paid {
            addError(["goal", "unit"], "the budget of a price with the model \(price.model.rawValue) is in \(paid.rawValue)")
        }
        goal.total = least(goal.total, budget(fields["budget"], ["goal", "budget"], price))
        goal.daily = least(goal.daily, budget(fields["dailyBudget"], ["goal", "dailyBudget"], price))
        return goal
    }

    private func least(_ one: Int?, _ other: Int?) -> Int? { [one, other].compactMap(\.self).min() }

    private mutating func budget(_ value: JSONValue?, _ path: [String], _ price: CampaignPrice) -> Int? {
        guard let value, let budget = amount(value, path) else { return nil }
        let events = price.events(for: budget)
        if events < 1 { addError(path, "pays for less than one event") }
        return Int(clamping: events)
    }

    private mutating func price(_ value: JSONValue?) -> CampaignPrice? {
        guard let value, let fields = object(value, ["price"], "a price", among: ["model", "amount", "currency"]) else { return nil }
        for name in ["model", "amount", "currency"] where fields[name] == nil { addError(["price"], "\(name) is missing") }
        let model: CampaignPrice.Model? = choice(fields["model"], ["price", "model"])
        let amount = fields["amount"].flatMap { self.amount($0, ["price", "amount"]) }
        let currency = text(fields["currency"], ["price", "currency"])
        if let currency, currency.utf8.count != 3 || !currency.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) {
            notAllowed(["price", "currency"], currency, "a code of three capital letters (ISO 4217) such as EUR")
        }
        guard let model, let amount, let currency else { return nil }
        return CampaignPrice(model: model, amount: amount, currency: currency)
    }

    private mutating func amount(_ value: JSONValue, _ path: [String]) -> Int64? {
        let text: String? = if case .number(let number) = value { "\(number)" } else { Self.printed(value) }
        if let amount = text.flatMap(CampaignPrice.amount), amount > 0 { return amount }
        addError(path, "must be an amount from 0.000001 to 1000000000, with at most six digits after the point")
        return nil
    }

    private mutating func caps(_ value: JSONValue?) -> [FrequencyCap] {
        list(value, ["caps"], limit: 8).compactMap { index, value in
            let path = ["caps", index]
            guard let fields = object(value, path, "a cap", among: ["count", "window"]) else { return nil }
            let count = number(fields["count"], path + ["count"], 1...10_000)
            if fields["count"] == nil { addError(path, "count is missing: the number of impressions per viewer in the window") }
            guard let window = text(fields["window"], path + ["window"]) else {
                if fields["window"] == nil { addError(path, "window is missing: \(Self.windows)") }
                return nil
            }
            guard let seconds = Self.seconds(window), (1...90 * 86_400).contains(seconds) else {
                notAllowed(path + ["window"], window, Self.windows)
                return nil
            }
            return count.map { FrequencyCap(count: $0, window: seconds) }
        }
    }

    private static let windows = "a number with its unit: s, min, h or d; at most 90d"

    private static func seconds(_ text: String) -> Int? {
        for (suffix, factor) in [("min", 60), ("s", 1), ("h", 3_600), ("d", 86_400)] where text.hasSuffix(suffix) {
            guard let count = Int(text.dropLast(suffix.count)), (0...10_000_000).contains(count) else { return nil }
            return count * factor
        }
        return nil
    }

    private mutating func disclosure(_ value: JSONValue?, of advertiser: String) -> Campaign.Disclosure? {
        guard let value, let fields = object(value, ["disclosure"], "a disclosure", among: ["label", "advertiser"]) else { return nil }
        return Campaign.Disclosure(
            label: label(fields["label"], ["disclosure", "label"]) ?? "",
            advertiser: text(fields["advertiser"], ["disclosure", "advertiser"]) ?? advertiser)
    }

    private mutating func label(_ value: JSONValue?, _ path: [String]) -> LocalizedText? {
        guard case .object(let members) = value else { return text(value, path, isRequired: true).map { LocalizedText($0) } }
        var texts: [(tag: String, value: String)] = []
        for member in members {
            if !LanguagePreferences.isTag(member.name) { notAllowed(path, member.name, "languages such as de or en-GB") }
            if let text = text(member.value, path + [member.name]) { texts.append((member.name, text)) }
        }
        if members.isEmpty { addError(path, "must be a text, or a text for each of some languages") }
        return LocalizedText(texts)
    }

    private mutating func trackers(_ value: JSONValue?, _ path: [String]) -> [TrackerTemplate] {
        list(value, path, limit: TrackerTemplate.limit).compactMap { index, value in
            if value == .text("") { return nil }
            guard case .text(let text) = value else {
                addError(path + [index], "must be an https URL")
                return nil
            }
            do throws(ItemError) {
                return try TrackerTemplate(text)
            } catch {
                addError(path + [index], error.reason)
                return nil
            }
        }
    }

    private mutating func targeting(_ value: JSONValue?) -> Targeting {
        var targeting = Targeting()
        let names = ["feeds", "sections", "layouts", "locales", "hours", "days", "attributes", "context"]
        guard let value, let fields = object(value, ["targeting"], "targeting", among: names) else { return targeting }
        func path(_ name: String) -> [String] { ["targeting", name] }
        refuseEmptyLists(fields, ["targeting"])
        targeting.feeds = known(fields["feeds"], path("feeds"), "feed", among: validTargets?.feeds)
        targeting.sections = known(fields["sections"], path("sections"), "section", among: validTargets?.sections)
        targeting.layouts = known(fields["layouts"], path("layouts"), "layout", among: CellLayout.allCases.map(\.rawValue))
            .compactMap(CellLayout.init)
        targeting.locales = texts(fields["locales"], path("locales"))
        for locale in targeting.locales where locale != "*" && !LanguagePreferences.isTag(locale) {
            notAllowed(path("locales"), locale, "language ranges such as de or en-GB")
        }
        targeting.hours = hours(fields["hours"], path("hours")) ?? targeting.hours
        targeting.days = days(fields["days"], path("days")) ?? targeting.days
        if let value = fields["attributes"],
            let fields = object(value, path("attributes"), "attributes (the operators)", among: ["any", "all", "none"])
        {
            targeting.any = attributes(fields["any"], path("attributes") + ["any"])
            refuseEmptyLists(fields, path("attributes"))
            targeting.all = attributes(fields["all"], path("attributes") + ["all"])
            targeting.none = attributes(fields["none"], path("attributes") + ["none"])
        }
        if let value = fields["context"], let fields = object(value, path("context"), "context", among: ["any", "all", "none"]) {
            refuseEmptyLists(fields, path("context"))
            targeting.anyContext = context(fields["any"], path("context") + ["any"])
            targeting.all += context(fields["all"], path("context") + ["all"])
            targeting.none += context(fields["none"], path("context") + ["none"])
        }
        return targeting
    }

    /// Why: An empty list could mean all viewers or no viewer.
    private mutating func refuseEmptyLists(_ fields: [String: JSONValue], _ path: [String]) {
        for name in fields.keys.sorted() where fields[name] == .list([]) {
            addError(path + [name], "is an empty list: name at least one value, or remove the key to have no restriction")
        }
    }

    private mutating func attributes(_ value: JSONValue?, _ path: [String]) -> [String] {
        texts(value, path).compactMap { text in
            guard let pair = ViewerAttributes.pair(text[...]) else {
                notAllowed(path, text, "name=value, the name of lower-case letters, digits, _ and -")
                return nil
            }
            return pair
        }
    }

    private mutating func context(_ value: JSONValue?, _ path: [String]) -> [String] {
        texts(value, path).compactMap { text in
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, FieldDeclaration.isName(String(parts[0])) else {
                notAllowed(path, text, "field=value, a field of a feed's filters")
                return nil
            }
            return Targeting.context(parts[0], parts[1])
        }
    }

    private mutating func hours(_ value: JSONValue?, _ path: [String]) -> UInt32? {
        guard value != nil else { return nil }
        var bits: UInt32 = 0
        for text in texts(value, path) {
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
            guard ends.count <= 2, let first = ends.first ?? nil, (0...23).contains(first),
                let last = ends.count == 1 ? first + 1 : ends[1],
                (0...24).contains(last), first != last
            else {
                notAllowed(path, text, "hours such as 8 or 8-20 (until 20:00), from 0 to 24")
                continue
            }
            var hour = first
            repeat {
                bits |= 1 << UInt32(hour % 24)
                hour = (hour + 1) % 24
            } while hour != last % 24
        }
        return bits == 0 ? nil : bits
    }

    private mutating func days(_ value: JSONValue?, _ path: [String]) -> UInt8? {
        guard value != nil else { return nil }
        let days = known(value, path, "day", among: Targeting.weekdays)
        let bits = days.reduce(0) { bits, day in bits | (Targeting.weekdays.firstIndex(of: day).map { 1 << UInt8($0) } ?? 0) as UInt8 }
        return bits == 0 ? nil : bits
    }

    // MARK: Values

    private mutating func addError(_ path: [String], _ reason: String) {
        errors.append(CampaignError(path, reason))
    }

    private mutating func notAllowed(_ path: [String], _ text: String, _ allowed: String) {
        addError(path, "'\(ItemError.shown(text))' is not allowed; allowed: \(allowed)")
    }

    private mutating func object(
        _ value: JSONValue, _ path: [String], _ name: String, among allowed: [String]
    ) -> [String: JSONValue]? {
        guard case .object(let members) = value else {
            addError(path, "\(name) is an object with \(allowed.filter { !Self.others.contains($0) }.joined(separator: ", "))")
            return nil
        }
        var found: [String: JSONValue] = [:]
        for member in members {
            if !allowed.contains(member.name) {
                let list = allowed.filter { !Self.others.contains($0) }.joined(separator: ", ")
                addError(path + [member.name], "unknown key '\(ItemError.shown(member.name))' in \(name); allowed: \(list)")
            } else if found[member.name] != nil {
                addError(path + [member.name], "'\(member.name)' occurs twice")
            } else if member.value != .null, member.value != .text("") {
                found[member.name] = member.value
            }
        }
        return found
    }

    private mutating func list(_ value: JSONValue?, _ path: [String], limit: Int) -> [(index: String, value: JSONValue)] {
        guard let value else { return [] }
        let values: [JSONValue] = if case .list(let values) = value { values } else { [value] }
        guard values.count <= limit else {
            addError(path, "more than \(limit) of them")
            return []
        }
        return values.enumerated().map { (String($0), $1) }
    }

    static func printed(_ value: JSONValue) -> String? {
        switch value {
        case .text(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }

    private mutating func text(_ value: JSONValue?, _ path: [String], isRequired: Bool = false) -> String? {
        guard let value else {
            if isRequired { addError(path.dropLast(), "\(path.last ?? "") is missing") }
            return nil
        }
        guard let text = Self.printed(value), (1...256).contains(text.unicodeScalars.count),
            !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            addError(path, "must be a text of 1 to 256 characters without control characters")
            return nil
        }
        return text
    }

    private mutating func flag(_ value: JSONValue?, _ path: [String]) -> Bool? {
        switch value {
        case .flag(let flag)?: return flag
        case nil: return nil
        case .text(let text)?:
            if let flag = Bool(word: text) { return flag }
        default: break
        }
        addError(path, "must be true or false")
        return nil
    }

    private mutating func texts(_ value: JSONValue?, _ path: [String]) -> [String] {
        var texts: [String] = []
        for (index, value) in list(value, path, limit: Self.listLimit) {
            guard let text = text(value, path + [index]) else { continue }
            if texts.contains(where: { $0.utf8.elementsEqual(text.utf8) }) {
                addError(path + [index], "'\(ItemError.shown(text))' occurs twice")
            } else {
                texts.append(text)
            }
        }
        return texts
    }

    private mutating func identifiers(_ value: JSONValue?, _ path: [String]) -> [String] {
        let ids = texts(value, path)
        if value == nil { addError([], "creatives is missing: the ids of its advertisements") }
        if value == .list([]) { addError(path, "is empty: it has the ids of the campaign's advertisements") }
        if ids.count > Self.creativeLimit { addError(path, "more than \(Self.creativeLimit) of them") }
        for (index, id) in ids.enumerated() where creatives.isContent(id) {
            addError(path + [String(index)], "'\(ItemError.shown(id))' is not an ad")
        }
        return ids
    }

    private mutating func known(_ value: JSONValue?, _ path: [String], _ thing: String, among allowed: [String]?) -> [String] {
        let names = texts(value, path)
        guard let allowed else { return names }
        for (index, name) in names.enumerated() where !allowed.contains(name) {
            let list = allowed.isEmpty ? "none exists" : "allowed: \(allowed.joined(separator: ", "))"
            addError(path + [String(index)], "unknown \(thing) '\(ItemError.shown(name))'; \(list)")
        }
        return names
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ value: JSONValue?, _ path: [String]) -> Choice? {
        guard let text = text(value, path) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        notAllowed(path, text, Choice.allCases.map(\.rawValue).joined(separator: ", "))
        return nil
    }

    private mutating func number(_ value: JSONValue?, _ path: [String], _ range: ClosedRange<Int>) -> Int? {
        guard let value else { return nil }
        if case .integer(let number) = value, let number = Int(exactly: number), range.contains(number) { return number }
        if case .text(let text) = value, let number = Int(text), range.contains(number) { return number }
        addError(path, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// Reads a timestamp (RFC 3339) with date, time and offset, and returns milliseconds since 1970-01-01 UTC.
    private mutating func moment(_ value: JSONValue?, _ path: [String]) -> Int64? {
        guard let text = text(value, path) else { return nil }
        // RFC 3339, section 5.6, allows `t` and `z` in lower case.
        if let moment = Timestamp.milliseconds(of: text.uppercased()) { return moment }
        notAllowed(path, text, "a time with its zone (RFC 3339) such as 2026-11-21T09:00:00+01:00")
        return nil
    }
}
