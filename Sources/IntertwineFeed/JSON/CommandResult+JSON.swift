internal import IntertwinePrimitives

extension CommandResult {
    /// Returns the result as the JSON (UTF-8) that clients receive.
    package func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        if let selection {
            writer.raw(#"{"selection":"#)
            writer.write(selection)
        } else {
            writer.raw(#"{"simulated":true"#)
        }
        writer.raw(#","commands":"#)
        writer.write(steps)
        if let presentation {
            writer.raw(#","presentation":{"type":"#)
            writer.write(presentation.type)
            writer.raw(#","screen":"#)
            writer.write(presentation.screen)
            writer.raw(#","arguments":{"#)
            for (index, argument) in presentation.arguments.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.write(argument.name)
                writer.raw(":")
                writer.write(argument.value)
            }
            writer.raw("}}")
        }
        if let undo {
            writer.raw(#","undo":{"type":"request","method":"DELETE","href":"#)
            writer.write(undo.href)
            writer.raw(#","expires":"#)
            writer.write(Timestamp.text(milliseconds: undo.expires))
            writer.raw("}")
        }
        writer.raw("}")
        return writer.bytes
    }
}

extension StepResult {
    /// Returns the undone steps as the JSON (UTF-8) that clients receive.
    package static func json(_ steps: [StepResult]) -> [UInt8] {
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
