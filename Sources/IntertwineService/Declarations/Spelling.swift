enum Spelling {
    private static let maxSuggestions = 3

    static func question(for name: String, among known: some Sequence<String>) -> String? {
        let names = nearest(to: name, among: Array(known))
        return names.isEmpty ? nil : "did you mean \(names.joined(separator: " or "))?"
    }

    private static func nearest(to name: String, among known: [String]) -> [String] {
        let slips = known.map { (name: $0, count: distance(name, $0)) }
        let fewest = slips.map(\.count).min() ?? .max
        guard fewest > max(1, name.utf8.count / 4) else {
            return Array(slips.filter { $0.count == fewest }.map(\.name).sorted().prefix(maxSuggestions))
        }
        let last = lastWord(name)
        return Array(known.filter { lastWord($0) == last }.sorted().prefix(maxSuggestions))
    }

    private static func lastWord(_ name: String) -> Substring {
        name.split { $0 == "." || $0 == "_" }.last ?? ""
    }

    private static func distance(_ first: String, _ second: String) -> Int {
        // Names of more than 128 characters get no suggestion.
        let (left, right) = (letters(first), letters(second))
        guard max(left.count, right.count) <= 128 else { return .max }
        var before: [Int] = []
        var above = Array(0...right.count)
        for row in left.indices {
            var line = [row + 1]
            for column in right.indices {
                let change = above[column] + (left[row] == right[column] ? 0 : 1)
                var least = min(above[column + 1] + 1, line[column] + 1, change)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    least = min(least, before[column - 1] + 1)
                }
                line.append(least)
            }
            (before, above) = (above, line)
        }
        return above.last ?? .max
    }

    private static func letters(_ name: String) -> [Character] {
        name.lowercased().filter { $0 != "-" && $0 != "_" }
    }
}
