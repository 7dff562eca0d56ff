/// The form in which texts show a number, such as 1234.5 seconds as `20.6 min`.
package struct NumberFormat: Sendable, Hashable {
    package static let decimals = 0...6

    /// The number of decimals; nil for at most three, without trailing zeros.
    package var decimals: Int?
    package var factor: Double
    package var unit: LocalizedText?

    package init(decimals: Int? = nil, factor: Double = 1, unit: LocalizedText? = nil) {
        (self.decimals, self.factor, self.unit) = (decimals, factor, unit)
    }

    private static let commas: Set = ["da", "de", "el", "es", "hr", "id", "it", "nl", "pt", "ro", "sl", "tr", "vi"]
    private static let blanks: Set = ["bg", "cs", "et", "fi", "fr", "hu", "lt", "lv", "nb", "nn", "no", "pl", "ru", "sk", "sv", "uk"]

    /// Returns a number with the separators of a language, and its unit. A number that is too large for decimals stays as it is.
    func text(of value: String, in language: FeedLanguage?) -> String {
        let places = decimals ?? 3
        let power = (0..<places).reduce(1.0) { power, _ in power * 10 }
        guard let number = Double(value).map({ ($0 * factor * power).rounded() }), abs(number) < 9e15 else { return value }
        let digits = String(Int64(abs(number)))
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        var fraction = padded.suffix(places)
        if decimals == nil { while fraction.last == "0" { fraction.removeLast() } }
        let primary = language.map { String($0.tag.prefix { $0 != "-" }).lowercased() } ?? "en"
        let (group, point) =
            Self.commas.contains(primary) ? (".", ",") : Self.blanks.contains(primary) ? ("\u{202F}", ",") : (",", ".")
        var shown = number < 0 ? "-" : ""
        let whole = padded.dropLast(places)
        for (index, digit) in whole.enumerated() {
            if index > 0, (whole.count - index).isMultiple(of: 3) { shown += group }
            shown.append(digit)
        }
        if !fraction.isEmpty { shown += point + fraction }
        return unit.map { "\(shown)\u{A0}\($0[language])" } ?? shown
    }
}
