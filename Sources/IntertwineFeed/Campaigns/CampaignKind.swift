/// Campaigns as items: `{"klass":"campaign","id":"spring","advertiser":"ACME","creatives":["1","2"],…}`. They come and go, and are taken down, as
/// all items do, and no cell shows them.
package struct CampaignKind: ItemKind {
    package let name = Campaign.kind
    package let lane = Lane.advertisements
    private let places: CampaignPlaces?
    private let declared: Set<String>
    private let file: String

    /// - Parameters:
    ///   - places: the feeds and sections that a campaign may name; nil where they are not known.
    ///   - declared: the ids of campaigns that a file declares: none of the store's may have one.
    ///   - file: that file, for messages.
    package init(places: CampaignPlaces? = nil, declared: Set<String> = [], file: String = "") {
        (self.places, self.declared, self.file) = (places, declared, file)
    }

    package func validate(_ fields: ItemFields) throws(ItemFault) -> ValidItem {
        let object = fields.object
        guard let id = try fields.optionalIdentifier("id", limit: 64) else { throw ItemFault(field: "id", reason: "is missing") }
        let name = String(decoding: id, as: UTF8.self)
        guard !declared.contains(name) else {
            throw ItemFault(
                field: "id", reason: "a campaign of this id is declared in \(file): change it there, or call this one something else")
        }
        let value: ActionValue
        do throws(JSONFault) { value = try ActionValue(json: Array(object.bytes[object.range])) } catch { throw ItemFault(error) }
        var reader = CampaignReader(places: places)
        guard reader.campaign(name, from: value) != nil else {
            let fault = reader.faults.first ?? CampaignFault([], "is no campaign")
            throw ItemFault(field: fault.path.isEmpty ? nil : fault.path.joined(separator: "."), reason: fault.reason)
        }
        var body: [ActionValue.Member] = []
        if case .object(let members) = value {
            body = members.filter { !["klass", "id"].contains($0.name) && $0.value != .null }.sorted { $0.name < $1.name }
        }
        var writer = JSONWriter(capacity: 512)
        writer.write(.object(body))
        return ValidItem(kind: self.name, lane: lane, id: name, variant: "", body: writer.bytes)
    }

    package func schema() -> [UInt8] {
        var document = ItemSchemaDocument(kind: name)
        document.add("id", .identifier(limit: 64), isRequired: true)
        document.add("advertiser", .text(maximum: 256), isRequired: true)
        return document.bytes
    }
}

extension Campaign {
    /// Reads a campaign as the store keeps it; nil where it was changed behind the store's back.
    init?(item: FeedItem) {
        guard let value = try? ActionValue(json: item.body) else { return nil }
        var reader = CampaignReader(places: nil)
        guard let campaign = reader.campaign(item.id, from: value) else { return nil }
        self = campaign
    }
}
