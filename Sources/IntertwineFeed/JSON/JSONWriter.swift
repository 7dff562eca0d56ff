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

    /// Lends its bytes, for what else stands among them for a while.
    mutating func withBytes<Value>(_ body: (inout [UInt8]) -> Value) -> Value { body(&bytes) }

    mutating func write(_ value: Int64) { Decimal.append(value, to: &bytes) }

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

    /// A string in quotes. Quote, backslash and control characters are escaped (RFC 8259 section 7); everything else stays as it is.
    mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        writeCharacters(of: text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// The same without the quotes.
    mutating func writeCharacters(of text: String) {
        let isContiguous = text.utf8.withContiguousStorageIfAvailable { appendEscaped($0) } != nil
        if !isContiguous {
            var native = text
            native.withUTF8 { appendEscaped($0) }
        }
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        while true {
            let end = Self.nextEscaped(in: UnsafeRawBufferPointer(text), from: start)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
            guard end < text.count else { return }
            appendEscape(of: text[end])
            start = end + 1
        }
    }

    /// Where the next character stands that has to be escaped, or the end. Eight are looked at together: nearly all texts have none.
    private static func nextEscaped(in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // The highest bit of a byte stays where one is below the limit, the lowest such byte for certain.
        func hasByte(in word: UInt64, below limit: UInt64) -> Bool { (word &- ones &* limit) & ~word & 0x8080_8080_8080_8080 != 0 }
        var index = start
        while index + 8 <= text.count {
            let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            if hasByte(in: word, below: 0x20) || hasByte(in: word ^ ones &* UInt64(UInt8(ascii: "\"")), below: 1)
                || hasByte(in: word ^ ones &* UInt64(UInt8(ascii: "\\")), below: 1)
            {
                break
            }
            index += 8
        }
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            index += 1
        }
        return index
    }

    private mutating func appendEscape(of byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw(#"\""#)
        case UInt8(ascii: "\\"): raw(#"\\"#)
        case 0x0A: raw(#"\n"#)
        case 0x0D: raw(#"\r"#)
        case 0x09: raw(#"\t"#)
        default:
            raw(#"\u00"#)
            for digit in [byte >> 4, byte & 0xF] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }
}

extension JSONWriter {
    /// A cell, with its slots in the order of ``CellCommands``; slots without an action are left out.
    mutating func write(_ viewModel: CellViewModel) {
        raw(#"{"id":"#)
        write(viewModel.id)
        raw(#","identifier":"#)
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
        var isFirst = true
        var segment: String?
        viewModel.commands.forEach { slot, command, request in
            if let request {
                guard viewModel.subject.context.hasViewer || !request.needsViewer else { return }
                if !isFirst { raw(",") }
                isFirst = false
                let cell = segment ?? PercentCoding.encode(viewModel.subject.cell, keeping: .segment)
                segment = cell
                return request.write(to: &self, links: viewModel.subject.context.links, cell: cell, label: viewModel.label(of: slot))
            }
            guard let action = viewModel.action(of: command) else { return }
            if !isFirst { raw(",") }
            isFirst = false
            write(slot.rawValue)
            raw(":")
            write(action, label: viewModel.label(of: slot))
        }
        raw("}}")
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
            for (index, binding) in bindings.enumerated() {
                if index > 0 { raw(",") }
                write(binding.part)
                raw(":{")
                write(binding.value)
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

    private mutating func write(_ picture: BoundPicture) {
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
        if let looks = picture.looks {
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
