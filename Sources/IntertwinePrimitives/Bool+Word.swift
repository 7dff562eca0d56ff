extension Bool {
    /// Reads a word of YAML 1.1 or 1.2, or a digit, in any case: operators write Booleans in each of these forms.
    package init?(word: String) {
        switch word.lowercased() {
        case "true", "yes", "on", "1": self = true
        case "false", "no", "off", "0": self = false
        default: return nil
        }
    }
}
