extension JSONWriter {
    /// A cell, with its slots in the order of ``CellCommands``; slots without an action are left out.
    mutating func write(_ viewModel: CellViewModel) {
        raw(#"{"id":"#)
        write(viewModel.id)
        raw(#","identifier":"#)
        write(viewModel.identifier)
        raw(#","size":{"width":"#)
        write(viewModel.size.width)
        raw(#","height":"#)
        write(viewModel.size.height)
        raw(#"},"actions":{"#)
        var isFirst = true
        for (slot, _) in viewModel.commands.slots {
            guard let action = viewModel.action(in: slot) else { continue }
            if !isFirst { raw(",") }
            isFirst = false
            write(slot.rawValue)
            raw(":")
            write(action)
        }
        raw("}}")
    }

    mutating func write(_ action: Action) {
        switch action {
        case .bind(let bindings):
            raw(#"{"type":"bind","bindings":{"#)
            for (index, binding) in bindings.enumerated() {
                if index > 0 { raw(",") }
                write(binding.part)
                raw(":{")
                write(binding.value)
                raw("}")
            }
            raw("}}")
        case .request(let method, let href, let templated, let body, let input):
            raw(#"{"type":"request","method":"#)
            write(method)
            raw(#","href":"#)
            write(href)
            if templated { raw(#","templated":true"#) }
            if let body {
                raw(#","body":"#)
                write(body)
            }
            if let input {
                raw(#","input":"#)
                write(input)
            }
            raw("}")
        case .link(let href):
            raw(#"{"type":"link","href":"#)
            write(href)
            raw("}")
        case .custom(let type, let members):
            write(.object([.init("type", .text(type))] + members))
        }
    }

    private mutating func write(_ value: Binding.Value) {
        switch value {
        case .text(let text):
            raw(#""text":"#)
            write(text)
        case .image(let href):
            raw(#""image":"#)
            write(href)
        case .custom(let type, let value):
            write(type)
            raw(":")
            write(value)
        }
    }

    mutating func write(_ value: ActionValue) {
        switch value {
        case .text(let text): write(text)
        case .integer(let number): write(number)
        case .number(let number): write(number)
        case .flag(let flag): raw(flag ? "true" : "false")
        case .null: raw("null")
        case .list(let values):
            raw("[")
            for (index, value) in values.enumerated() {
                if index > 0 { raw(",") }
                write(value)
            }
            raw("]")
        case .object(let members):
            raw("{")
            for (index, member) in members.enumerated() {
                if index > 0 { raw(",") }
                write(member.name)
                raw(":")
                write(member.value)
            }
            raw("}")
        }
    }
}
