internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Yams

struct CampaignsFile: Sendable {
    private(set) var campaigns: [Campaign] = []
    private var lines: [String: (campaign: String, creatives: [String])] = [:]

    init(_ root: YAMLNode, targets: ValidTargets?, creatives: CreativeNames) throws(ConfigurationError) {
        guard let node = try root.members(of: "the file", among: ["campaigns"])["campaigns"] else {
            throw root.error("campaigns is missing")
        }
        var faults = ErrorCollector()
        for (id, node) in try node.members("each campaign's id with its declaration") {
            guard campaigns.count < CampaignIndex.limit else { throw node.error(CampaignIndex.surplus) }
            var reader = CampaignReader(validTargets: targets, creatives: creatives, isItem: false)
            if let campaign = reader.campaign(id, from: node.value) {
                campaigns.append(campaign)
                let creatives = campaign.creatives.indices.map { node.node(at: ["creatives", String($0)]).where }
                lines[id] = (node.where, creatives)
            }
            for fault in reader.errors {
                let name = fault.path.isEmpty ? ItemError.shown(id) : "\(ItemError.shown(id)): \(fault.path.joined(separator: "."))"
                faults.collect { () throws(ConfigurationError) in throw node.node(at: fault.path).error("\(name): \(fault.reason)") }
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

extension YAMLNode {
    fileprivate var `where`: String { "\(file):\(line)" }

    /// The value as JSON would have it.
    fileprivate var value: JSONValue {
        if let mapping = yaml.mapping {
            return .object(
                mapping.map { key, value in
                    JSONValue.Member(key.scalar?.string ?? "", YAMLNode(file: file, yaml: value, line: line).value)
                })
        }
        if let sequence = yaml.sequence { return .list(sequence.map { YAMLNode(file: file, yaml: $0, line: line).value }) }
        guard let scalar = yaml.scalar, yaml.null == nil else { return .null }
        return .text(scalar.string)
    }
}
