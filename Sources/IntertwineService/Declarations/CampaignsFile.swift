internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Yams

/// The campaigns that a file declares: `campaigns: {spring: {advertiser: …, creatives: […]}}`. `Config/campaigns.yaml` shows some.
struct CampaignsFile: Sendable {
    private(set) var campaigns: [Campaign] = []
    /// File and line of each, and of each one's creatives.
    private var lines: [String: (campaign: String, creatives: [String])] = [:]

    /// - Parameters:
    ///   - places: the feeds and sections that a campaign may name.
    ///   - creatives: which advertisements its creatives may be.
    /// - Throws: ``ConfigurationError`` with file and line for everything that is wrong.
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

    /// Returns the validation errors of the file against a store, with line numbers; nil without errors.
    func errors(_ findings: Campaigns.ValidationResult) -> ConfigurationError? {
        ConfigurationError(findings.errors.flatMap { error($0.campaign, creative: $0.creative, $0.reason).reasons })
    }

    /// - Parameter creative: the number of the creative that it is about; nil where it is about all.
    private func error(_ campaign: String, creative: Int?, _ reason: String) -> ConfigurationError {
        let lines = lines[campaign]
        let line = creative.flatMap { number in lines.flatMap { $0.creatives.indices.contains(number) ? $0.creatives[number] : nil } }
        return ConfigurationError("\(line ?? lines?.campaign ?? "campaigns.file"): \(ItemError.shown(campaign)): \(reason)")
    }
}

extension YAMLNode {
    fileprivate var `where`: String { "\(file):\(line)" }

    /// The value as JSON would have it. What is a number in YAML is one here, where it is whole; all else that is no list or mapping is a text.
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
