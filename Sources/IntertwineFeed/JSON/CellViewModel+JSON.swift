internal import IntertwinePrimitives

extension CellViewModel {
    package func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024)
        writer.write(self)
        return writer.bytes
    }
}

extension JSONWriter {
    mutating func write(_ viewModel: CellViewModel) {
        raw(#"{"id":""#)
        writeContent(of: viewModel, configuredBy: viewModel.action(in: .configuration))
        if let primary = viewModel.primary { write(primary: primary) }
        raw("}")
    }

    mutating func write(primary: String) {
        raw(#","primary":"#)
        write(primary)
    }

    @discardableResult
    mutating func writeContent(of viewModel: CellViewModel, configuredBy configuration: Action?) -> Int {
        let start = bytes.count
        writeCharacters(of: viewModel.id)
        let end = bytes.count
        writeHead(of: viewModel)
        if let configuration { writeConfiguration(of: viewModel, configuration) }
        writeSlots(of: viewModel, isFirst: configuration == nil)
        return end - start
    }

    mutating func writeHead(of viewModel: CellViewModel) {
        raw(#"","identifier":"#)
        write(viewModel.identifier)
        if viewModel.version != 1 {
            raw(#","version":"#)
            write(Int64(viewModel.version))
        }
        if viewModel.isAdvertisement { raw(#","advertisement":true"#) }
        raw(#","size":{"width":"#)
        write(viewModel.size.width)
        raw(#","height":"#)
        write(viewModel.size.height)
        if viewModel.size.textHeight > 0 {
            raw(#","textHeight":"#)
            write(viewModel.size.textHeight)
        }
        raw(#"},"actions":{"#)
    }

    mutating func writeConfiguration(of viewModel: CellViewModel, _ configuration: Action) {
        write(configuration, in: .configuration, label: viewModel.label(of: .configuration))
    }

    mutating func writeSlots(of viewModel: CellViewModel, isFirst: Bool) {
        var isFirst = isFirst
        let hasViewer = viewModel.subject.context.hasViewer
        let base = viewModel.subject.context.links.base
        let prepared = viewModel.commands.prepared
        let text = prepared?.text ?? []
        let cell = text.isEmpty ? "" : PercentCoding.encode(viewModel.subject.cell, keeping: .segment)
        for index in viewModel.commands.indices {
            if let request = prepared?.requests[index] {
                guard hasViewer || !request.needsViewer else { continue }
                if !isFirst { raw(",") }
                isFirst = false
                request.write(to: &self, from: text, base: base, cell: cell, label: viewModel.label(at: index))
                continue
            }
            let (slot, command) = viewModel.commands.slot(at: index)
            guard let action = viewModel.action(of: command) else { continue }
            if !isFirst { raw(",") }
            isFirst = false
            write(action, in: slot, label: viewModel.label(of: slot))
        }
        raw("}")
    }

    private mutating func write(_ action: Action, in slot: CommandKey, label: String?) {
        write(slot.rawValue)
        raw(":")
        write(action, label: label)
    }

    mutating func write(_ action: Action, label: String? = nil) {
        guard let label else { return write(unlabelled: action) }
        if case .custom(let type, let members) = action {
            return write(unlabelled: .custom(type: type, members: members + [.init("label", .text(label))]))
        }
        write(unlabelled: action)
        add(label: label)
    }

    mutating func add(label: String) {
        withBytes { _ = $0.removeLast() }
        raw(#","label":"#)
        write(label)
        raw("}")
    }

    private mutating func write(unlabelled action: Action) {
        switch action {
        case .bind(let bindings):
            raw(#"{"type":"bind","bindings":{"#)
            for index in bindings.indices {
                if index > 0 { raw(",") }
                write(bindings[index].part)
                raw(":")
                write(bindings[index].value)
            }
            raw("}}")
        case .request(let method, let href, let templated, let body, let input, let viewable):
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
            if let viewable {
                raw(#","viewable":"#)
                write(viewable)
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

    private mutating func write(_ value: CellBinding.Value) {
        switch value {
        case .text(let text):
            raw(#"{"type":"text","text":"#)
            write(text)
        case .image(let image):
            raw(#"{"type":"image","href":"#)
            write(image)
        case .date(let date):
            raw(#"{"type":"date","date":"#)
            write(date)
        case .number(let number):
            raw(#"{"type":"number","number":"#)
            write(number)
        case .integer(let number):
            raw(#"{"type":"number","number":"#)
            write(number)
        case .link(let href):
            raw(#"{"type":"link","href":"#)
            write(href)
        case .media(let href):
            raw(#"{"type":"media","href":"#)
            write(href)
        case .custom(let type, let members):
            return write(.object([.init("type", .text(type))] + members))
        }
        raw("}")
    }

    private mutating func write(_ image: ImageBinding) {
        write(image.href)
        if let box = image.box {
            raw(#","width":"#)
            write(Int64(box.width))
            raw(#","height":"#)
            write(Int64(box.height))
        }
        if !image.scales.isEmpty {
            raw(#","scales":["#)
            for index in image.scales.indices {
                if index > 0 { raw(",") }
                write(Int64(image.scales[index]))
            }
            raw("]")
        }
        if let metadata = image.placeholder {
            raw(#","placeholder":"#)
            write(metadata.placeholder)
            raw(#","color":"#)
            write(metadata.color)
            raw(#","original":{"width":"#)
            write(Int64(metadata.width))
            raw(#","height":"#)
            write(Int64(metadata.height))
            raw("}")
        }
        if let alternative = image.alternative {
            raw(#","alt":"#)
            write(alternative)
        }
    }
}
