internal import IntertwinePrimitives

package struct CampaignKind: ItemKind {
    package let name = Campaign.kind
    package let stream = StreamID.advertisements
    private let validTargets: ValidTargets?
    let creatives: CreativeNames
    private let declared: Set<String>
    private let file: String
    private let sources: Set<String>

    package init(
        places: ValidTargets? = nil, creatives: CreativeNames = CreativeNames(hasOthers: true), declared: Set<String> = [],
        file: String = "", sources: Set<String> = []
    ) {
        (self.validTargets, self.creatives, self.declared, self.file, self.sources) = (places, creatives, declared, file, sources)
    }

    package func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let object = fields.object
        guard let id = try fields.optionalIdentifier("id", limit: 64) else {
            throw ItemError(field: "id", reason: "is missing", code: .required)
        }
        let name = String(decoding: id, as: UTF8.self)
        guard !declared.contains(name) else {
            throw ItemError(
                field: "id", reason: "a campaign with this id is declared in \(file): change it there, or use another id")
        }
        if sources.contains(name) { throw ItemError(field: "id", reason: "a source of ads has this name: use another id") }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(json: Array(object.bytes[object.range])) } catch { throw ItemError(error) }
        var reader = CampaignReader(validTargets: validTargets, creatives: creatives)
        guard reader.campaign(name, from: value) != nil else {
            let fault = reader.errors.first ?? CampaignError([], "is not a campaign")
            throw ItemError(
                field: fault.path.isEmpty ? nil : fault.path.joined(separator: "."), reason: fault.reason,
                path: fault.path)
        }
        var body: [JSONValue.Member] = []
        if case .object(let members) = value {
            body = members.filter { !["kind", "id"].contains($0.name) && $0.value != .null }.sorted { $0.name < $1.name }
        }
        var writer = JSONWriter(capacity: 512)
        writer.write(.object(body))
        return ValidatedItem(kind: self.name, stream: stream, id: name, variant: "", body: writer.bytes)
    }

    package func schema() -> [UInt8] { Array(Self.schema.utf8) }

    private static let schema = #"""
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "campaign", "type": "object",
         "$defs": {
           "text": {"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^[^\\u0000-\\u001F\\u007F]*$"},
           "texts": {"type": "array", "maxItems": 200, "uniqueItems": true, "items": {"$ref": "#/$defs/text"}},
           "name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"},
           "attributes": {"type": "array", "maxItems": 200, "uniqueItems": true, "items": {
             "type": "string", "maxLength": 256, "pattern": "^[a-z][a-z0-9_.*-]{0,63}(=\"?[^\"\\u0000-\\u001F\\u007F]{1,128}\"?)?$"}},
           "moment": {"type": "string", "format": "date-time"},
           "count": {"type": "integer", "minimum": 1, "maximum": 1000000000000},
           "amount": {"type": ["number", "string"], "exclusiveMinimum": 0, "pattern": "^[0-9]{1,10}(\\.[0-9]{1,6})?$"},
           "trackers": {"type": "array", "maxItems": 8, "items": {"type": "string", "maxLength": 8000, "pattern": "^[Hh][Tt][Tt][Pp]"}}
         },
         "properties": {
           "kind": {"const": "campaign"}, "id": {"$ref": "#/$defs/name"}, "advertiser": {"$ref": "#/$defs/text"},
           "creatives": {"description": "The ids of ads with `house: false`, such as 7, or their kinds and ids, such as banner:7.",
             "type": "array", "minItems": 1, "maxItems": 64, "uniqueItems": true, "items": {"type": ["string", "integer"]}},
           "paused": {"type": "boolean"},
           "starts": {"$ref": "#/$defs/moment"}, "ends": {"$ref": "#/$defs/moment"},
           "zone": {"$ref": "#/$defs/text", "description": "The time zone of days and hours, such as Europe/Berlin. The default is UTC."},
           "priority": {"enum": ["sponsorship", "standard", "house"], "description": "The default is standard."},
           "weight": {"type": "integer", "minimum": 1, "maximum": 1000000, "description": "The share among campaigns of one priority."},
           "goal": {"type": "object", "additionalProperties": false, "anyOf": [
             {"required": ["total"]}, {"required": ["daily"]}, {"required": ["budget"]}, {"required": ["dailyBudget"]}],
             "properties": {
               "unit": {"enum": ["impressions", "clicks", "views"]}, "total": {"$ref": "#/$defs/count"}, "daily": {"$ref": "#/$defs/count"},
               "budget": {"$ref": "#/$defs/amount"}, "dailyBudget": {"$ref": "#/$defs/amount"}}},
           "price": {"type": "object", "additionalProperties": false, "required": ["model", "amount", "currency"], "properties": {
             "model": {"enum": ["cpm", "cpc", "cpv"]}, "amount": {"$ref": "#/$defs/amount"},
             "currency": {"type": "string", "pattern": "^[A-Z]{3}$"}}},
           "pacing": {"enum": ["even", "asap"]},
           "caps": {"type": "array", "maxItems": 8, "items": {
             "type": "object", "additionalProperties": false, "required": ["count", "window"],
             "properties": {
               "count": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "Impressions for each viewer."},
               "window": {"type": "string", "pattern": "^0*[1-9][0-9]*(s|min|h|d)$", "description": "Such as 30min, 12h or 7d."}}}},
           "targeting": {"type": "object", "additionalProperties": false, "properties": {
             "feeds": {"$ref": "#/$defs/texts"}, "sections": {"$ref": "#/$defs/texts"},
             "layouts": {"type": "array", "uniqueItems": true, "items": {"enum": ["collection", "table"]}},
             "locales": {"type": "array", "maxItems": 200, "uniqueItems": true, "items": {
               "type": "string", "pattern": "^(\\*|[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*)$"}},
             "hours": {"description": "Such as 9-17 or 22.", "type": "array", "maxItems": 200, "uniqueItems": true, "items": {
               "type": "string", "pattern": "^(1?[0-9]|2[0-3])(-(1?[0-9]|2[0-4]))?$"}},
             "days": {"type": "array", "uniqueItems": true, "items": {"enum": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]}},
             "attributes": {"type": "object", "additionalProperties": false, "properties": {
               "any": {"$ref": "#/$defs/attributes"}, "all": {"$ref": "#/$defs/attributes"}, "none": {"$ref": "#/$defs/attributes"}}},
             "context": {"type": "object", "additionalProperties": false, "properties": {
               "any": {"$ref": "#/$defs/texts"}, "all": {"$ref": "#/$defs/texts"}, "none": {"$ref": "#/$defs/texts"}}}}},
           "labels": {"$ref": "#/$defs/texts"},
           "disclosure": {"type": "object", "additionalProperties": false, "required": ["label"], "properties": {
             "label": {"anyOf": [{"$ref": "#/$defs/text"}, {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/text"},
               "propertyNames": {"pattern": "^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$"}}]},
             "advertiser": {"$ref": "#/$defs/text"}}},
           "impressionTrackers": {"$ref": "#/$defs/trackers"}, "clickTrackers": {"$ref": "#/$defs/trackers"}
         },
         "required": ["kind", "id", "advertiser", "creatives"], "additionalProperties": false}
        """#
}

extension Campaign {
    init?(item: FeedItem) {
        guard let value = try? JSONValue(json: item.body) else { return nil }
        var reader = CampaignReader(validTargets: nil)
        guard let campaign = reader.campaign(item.id, from: value) else { return nil }
        self = campaign
    }
}
