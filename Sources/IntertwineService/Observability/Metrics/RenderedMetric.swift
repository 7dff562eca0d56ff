/// What a handler of the registry has counted, in the text format.
protocol RenderedMetric: AnyObject, Sendable {
    func render(_ name: String, _ labels: [(String, String)], into text: inout MetricText)
}
