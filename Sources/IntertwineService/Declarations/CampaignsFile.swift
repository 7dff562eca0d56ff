internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Yams

struct CampaignsFile: Sendable {
    private(set) var campaigns: [Campaign] = []
    private var lines: [String: (campaign: String, creatives: [String])] = [:]

    init(_ root: YAMLNode, targets: ValidTargets?, creatives: CreativeNames) throws {
        let declarations = "each campaign's id with its declaration"
        let node = try root.members(of: "the file", among: ["campaigns"]).required("campaigns", declarations)
        var faults = ErrorCollector()
        for (id, node) in try node.members(declarations) {
            guard campaigns.count < CampaignIndex.limit else { throw node.error(CampaignIndex.surplus) }
            var reader = CampaignReader(validTargets: targets, creatives: creatives, isItem: false)
            if let campaign = reader.campaign(id, from: node.yaml.json) {
                campaigns.append(campaign)
                lines[id] = (node.place, campaign.creatives.indices.map { node.node(at: ["creatives", String($0)]).place })
            }
            for fault in reader.errors {
                let name = ([ItemError.shown(id)] + (fault.path.isEmpty ? [] : [fault.path.joined(separator: ".")])).joined(separator: ": ")
                faults.reasons += node.node(at: fault.path).error("\(name): \(fault.reason)").reasons
            }
        }
        try faults.finish()
    }

    func errors(_ findings: Campaigns.ValidationResult) -> ConfigurationError? {
        ConfigurationError(findings.errors.flatMap { error($0.campaign, creative: nil, $0.reason).reasons })
    }

    private func error(_ campaign: String, creative: Int?, _ reason: String) -> ConfigurationError {
        let lines = lines[campaign]
        let line = creative.flatMap { number in lines.flatMap { $0.creatives.indices.contains(number) ? $0.creatives[number] : nil } }
        return ConfigurationError("\(line ?? lines?.campaign ?? "campaigns.file"): \(ItemError.shown(campaign)): \(reason)")
    }
}

extension Node {
    /// The value as JSON would have it.
    fileprivate var json: JSONValue {
        switch self {
        case .mapping(let mapping): .object(mapping.map { JSONValue.Member($0.key.scalar?.string ?? "", $0.value.json) })
        case .sequence(let sequence): .list(sequence.map(\.json))
        case .scalar(let scalar): null == nil ? .text(scalar.string) : .null
        default: .null
        }
    }
}
