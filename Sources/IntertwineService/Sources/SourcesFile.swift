internal import IntertwineFeed
internal import IntertwineSync
internal import Yams

/// The remote sources that a file declares: `sources: {catalogue: …}`. `Config/sources.yaml` shows one.
struct SourcesFile {
    /// More of them than any service needs, each with its memory and its label in the metrics.
    static let limit = 100

    let sources: [RemoteSource]

    /// - Parameters:
    ///   - broken: kinds that are declared, and not rightly: told of where they are, and not here once more.
    /// - Throws: ``ConfigurationError`` with file and line for everything that is wrong.
    init(
        _ root: YAMLPlace, kinds: ItemKinds, broken: Set<String> = [], settings: SourceSettings, environment: [String: String]
    ) throws(ConfigurationError) {
        guard let places = try root.members(of: "the file", among: ["sources"])["sources"] else { throw root.fault("sources is missing") }
        let reader = SourceReader(kinds: kinds, policy: settings.policy, environment: environment)
        var sources: [RemoteSource] = []
        var faults = FaultCollector()
        for (name, place) in try places.members("each source's name with its declaration") {
            if let kind = place.node["kind"]?.string, broken.contains(kind) { continue }
            let source = faults.collect { () throws(ConfigurationError) in
                guard RemoteSource.isName(name) else {
                    throw place.notAllowed(name, "1 to \(RemoteSource.nameLimit) lower-case letters, digits and hyphens, no hyphen first")
                }
                guard sources.count < Self.limit else { throw place.fault("there are more than \(Self.limit) sources") }
                return try reader.source(name, at: place)
            }
            if let source { sources.append(source) }
        }
        try faults.finish()
        self.sources = sources
    }
}
