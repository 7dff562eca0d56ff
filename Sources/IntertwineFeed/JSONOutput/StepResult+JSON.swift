extension StepResult {
    /// What was taken back, as clients get it: JSON, UTF-8.
    public static func json(_ steps: [StepResult]) -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        writer.raw(#"{"commands":"#)
        writer.write(steps)
        writer.raw("}")
        return writer.bytes
    }
}

extension JSONWriter {
    mutating func write(_ steps: [StepResult]) {
        raw("[")
        for (index, step) in steps.enumerated() {
            if index > 0 { raw(",") }
            raw(#"{"command":"#)
            write(step.command)
            raw(#","outcome":"#)
            write(step.outcome.rawValue)
            raw("}")
        }
        raw("]")
    }
}
