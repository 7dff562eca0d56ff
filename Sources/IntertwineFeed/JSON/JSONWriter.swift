internal import IntertwinePrimitives

/// Writes JSON straight into bytes.
///
/// The encoder of Foundation goes through a tree of boxed values and costs several times as much as reading the page's items.
struct JSONWriter {
    private(set) var bytes: [UInt8]

    /// Begins anew, in the same memory.
    mutating func clear(capacity: Int) {
        bytes.removeAll(keepingCapacity: true)
        bytes.reserveCapacity(capacity)
    }

    init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Text that is JSON already.
    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// The same, made before.
    mutating func append(_ json: Slice<UnsafeBufferPointer<UInt8>>) {
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: json))
    }

    /// The same in an array.
    mutating func append(_ json: [UInt8]) { bytes.append(contentsOf: json) }

    /// The same as text, which nothing in it has to be escaped in.
    mutating func append(_ json: String) {
        bytes.append(contentsOf: json.utf8)
    }

    /// A number in eight bytes, as it lies in memory.
    mutating func append(number: UInt64) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }

    /// Lends its bytes, for what else stands among them for a while.
    mutating func withBytes<Value>(_ body: (inout [UInt8]) -> Value) -> Value { body(&bytes) }

    mutating func write(_ value: Int64) { bytes.append(decimal: value) }

    /// A number without a fraction where it is whole; null where it is not finite.
    private mutating func write(_ value: Double) {
        if let whole = Int64(exactly: value) {
            write(whole)
        } else if value.magnitude >= 0x1p63, value.magnitude < 1e21, let whole = Int128(exactly: value) {
            bytes.append(contentsOf: String(whole).utf8)
        } else if value.isFinite {
            bytes.append(contentsOf: value.description.utf8)
        } else {
            raw("null")
        }
    }

    mutating func write(_ text: String?) {
        if let text { write(text) } else { raw("null") }
    }

    /// A string in quotes.
    mutating func write(_ text: String) {
        bytes.append(jsonString: text)
    }

    /// The same without the quotes.
    mutating func writeCharacters(of text: String) {
        bytes.append(jsonCharactersOf: text)
    }
}

extension JSONWriter {
    /// A cell, with its slots in the order of ``CellCommands``; slots without an action are left out.
    mutating func write(_ viewModel: CellViewModel) {
        raw(#"{"id":""#)
        writeContent(of: viewModel, configuredBy: viewModel.action(in: .configuration))
        raw("}")
    }

    /// The same without what stands before its id, and without the brace at its end.
    ///
    /// - Parameter configuration: what its clients are told of that slot.
    /// - Returns: the bytes of the id.
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

    /// From behind its id to its slots.
    mutating func writeHead(of viewModel: CellViewModel) {
        raw(#"","identifier":"#)
        write(viewModel.identifier)
        if viewModel.version != 1 {
            raw(#","version":"#)
            write(Int64(viewModel.version))
        }
        raw(#","size":{"width":"#)
        write(viewModel.size.width)
        raw(#","height":"#)
        write(viewModel.size.height)
        raw(#"},"actions":{"#)
    }

    mutating func writeConfiguration(of viewModel: CellViewModel, _ configuration: Action) {
        write(configuration, in: .configuration, label: viewModel.label(of: .configuration))
    }

    /// The slots besides the configuration, and the brace behind them.
    ///
    /// - Parameter isFirst: whether none stands before them.
    mutating func writeSlots(of viewModel: CellViewModel, isFirst: Bool) {
        var isFirst = isFirst
        let hasViewer = viewModel.subject.context.hasViewer
        let base = viewModel.subject.context.links.base
        let text = viewModel.commands.preparedText
        let cell = text.isEmpty ? "" : PercentCoding.encode(viewModel.subject.cell, keeping: .segment)
        for index in viewModel.commands.indices {
            if let request = viewModel.commands.request(at: index) {
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

    /// - Parameter label: what people are told that it does; stands behind all other members.
    mutating func write(_ action: Action, label: String? = nil) {
        guard let label else { return write(unlabelled: action) }
        if case .custom(let type, let members) = action {
            return write(unlabelled: .custom(type: type, members: members + [.init("label", .text(label))]))
        }
        write(unlabelled: action)
        add(label: label)
    }

    /// Behind all other members of an object that is complete.
    mutating func add(label: String) {
        bytes.removeLast()
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
                raw(":{")
                write(bindings[index].value)
                raw("}")
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

    private mutating func write(_ value: Binding.Value) {
        switch value {
        case .text(let text):
            raw(#""text":"#)
            write(text)
        case .image(let picture): write(picture)
        case .custom(let type, let value):
            write(type)
            raw(":")
            write(value)
        }
    }

    private mutating func write(_ picture: ImageBinding) {
        raw(#""image":"#)
        write(picture.href)
        if let box = picture.box {
            raw(#","width":"#)
            write(Int64(box.width))
            raw(#","height":"#)
            write(Int64(box.height))
        }
        if !picture.scales.isEmpty {
            raw(#","scales":["#)
            for index in picture.scales.indices {
                if index > 0 { raw(",") }
                write(Int64(picture.scales[index]))
            }
            raw("]")
        }
        if let looks = picture.placeholder {
            raw(#","placeholder":"#)
            write(looks.placeholder)
            raw(#","color":"#)
            write(looks.color)
            raw(#","original":{"width":"#)
            write(Int64(looks.width))
            raw(#","height":"#)
            write(Int64(looks.height))
            raw("}")
        }
        if let alternative = picture.alternative {
            raw(#","alt":"#)
            write(alternative)
        }
    }

    mutating func write(_ value: JSONValue) {
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
