internal import IntertwineStorage

/// Checks a database file for corruption in the background, slowly and repeatedly.
struct DatabaseCheck: PeriodicService {
    /// The read rate of a check in bytes per second.
    private static let rate = 4.0 * 1_048_576
    /// The pause between two checks.
    private static let pause = Duration.seconds(10)

    private let file: any CheckedFile
    private(set) var interval = Duration.zero

    init(file: any CheckedFile) {
        self.file = file
    }

    mutating func perform() async {
        let step = await file.checkSome()
        interval = step.isLast ? Self.pause : .seconds(max(0.005, Double(step.bytes) / Self.rate))
    }
}
