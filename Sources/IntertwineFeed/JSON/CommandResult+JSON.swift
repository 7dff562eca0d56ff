internal import IntertwinePrimitives

extension CommandResult {
    package func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        if let invocation {
            writer.raw("{")
            writer.write(invocation: invocation)
        } else {
            writer.raw(#"{"dryRun":true"#)
        }
        if let slot {
            writer.raw(#","slot":"#)
            writer.write(slot.rawValue)
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
        if let destination {
            writer.raw(#","open":{"href":"#)
            writer.write(destination)
            writer.raw("}")
        }
        if let undo {
            writer.raw(#","undo":{"type":"request","method":"DELETE","href":"#)
            writer.write(undo.href)
            writer.raw(#","expiresAt":"#)
            writer.write(Timestamp.text(milliseconds: undo.expires))
            writer.raw("}")
        }
        writer.raw("}")
        return writer.bytes
    }

    package var outcomeMembers: [UInt8] {
        var writer = JSONWriter(capacity: 128)
        if let invocation {
            writer.write(invocation: invocation)
            writer.raw(",")
        }
        writer.raw(#""commands":"#)
        writer.write(steps)
        return writer.bytes
    }
}

extension StepResult {
    package static func json(_ steps: [StepResult], of invocation: String) -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        writer.raw("{")
        writer.write(invocation: invocation)
        writer.raw(#","commands":"#)
        writer.write(steps)
        writer.raw("}")
        return writer.bytes
    }
}

extension JSONWriter {
    mutating func write(invocation id: String) {
        raw(#""invocation":{"id":"#)
        write(id)
        raw("}")
    }

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
