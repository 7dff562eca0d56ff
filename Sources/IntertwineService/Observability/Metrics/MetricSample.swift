/// One value that a part of the service keeps itself, read when metrics are asked for.
struct MetricSample: Sendable {
    enum Kind: String, Sendable { case counter, gauge }

    var name: String
    var kind: Kind
    var help: String
    var labels: [(String, String)] = []
    var value: Double
}
