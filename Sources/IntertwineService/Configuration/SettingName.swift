/// The spellings of one key: `ads.per-page` is `ads.perPage` in a file as well, and `INTERTWINE_ADS_PER_PAGE` in the environment.
struct SettingName: Hashable {
    static let environmentPrefix = "INTERTWINE_"

    /// The canonical spelling, in kebab case.
    let key: String

    init(_ key: String) {
        self.key = key
    }

    /// Reads a key as someone wrote it in a file.
    init(spelled key: String) {
        var canonical = ""
        for character in key {
            if character.isUppercase, let last = canonical.last, last.isLowercase || last.isNumber { canonical += "-" }
            canonical += character.lowercased()
        }
        self.key = canonical
    }

    var components: [String] {
        key.split(separator: ".").map(String.init)
    }

    var camelCaseComponents: [String] {
        components.map { component in
            let words = component.split(separator: "-")
            return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
        }
    }

    var environmentVariable: String {
        Self.environmentPrefix + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }
}
