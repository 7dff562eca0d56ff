/// A writer of the Prometheus text format, version 0.0.4 (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
struct MetricText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    mutating func begin(_ name: String, kind: String, help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind)\n"
    }

    mutating func add(_ name: String, _ labels: [(String, String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }.joined(separator: ",") + "}"
        }
        text += " \(Self.number(value))\n"
    }

    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if value == value.rounded(), abs(value) < 9e15 { return String(Int(value)) }
        return "\(value)"
    }

    static func name(_ label: String) -> String {
        let name = String(
            label.unicodeScalars.map { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_")
                    ? Character(scalar) : "_"
            })
        return name.first.map { $0.isNumber } ?? true ? "_" + name : name
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

/// A value that a part of the service counts itself, read at each metrics request.
package struct MetricSample: Sendable {
    package enum Kind: String, Sendable { case counter, gauge }

    var name: String
    var kind: Kind
    var help: String
    var labels: [(String, String)]
    var value: Double

    package init(_ name: String, _ kind: Kind, _ help: String, labels: [(String, String)] = [], _ value: Double) {
        (self.name, self.kind, self.help, self.labels, self.value) = (name, kind, help, labels, value)
    }

    package static func counter(_ name: String, _ help: String, _ value: Int) -> MetricSample {
        MetricSample(name, .counter, help, Double(value))
    }

    static func each(_ name: String, _ kind: Kind, _ help: String, by label: String, _ values: [(String, Int)]) -> [MetricSample] {
        values.map { MetricSample(name, kind, help, labels: [(label, $0)], Double($1)) }
    }

    static func gauge(_ name: String, _ help: String, _ value: Int) -> MetricSample {
        MetricSample(name, .gauge, help, Double(value))
    }
}
