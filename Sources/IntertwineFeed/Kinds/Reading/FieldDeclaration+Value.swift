internal import IntertwinePrimitives

extension FieldDeclaration {
    /// The field's value in one item: the characters of a text, or the literal of a number or boolean. Nil where it is missing.
    ///
    /// - Throws: ``ItemFault`` where it is missing and required, of another type, or beyond its limits.
    func value(in fields: ItemFields) throws(ItemFault) -> ArraySlice<UInt8>? {
        let value = try optionalValue(in: fields)
        guard value != nil || !isRequired else { throw ItemFault(field: name, reason: "is missing") }
        return value
    }

    private func optionalValue(in fields: ItemFields) throws(ItemFault) -> ArraySlice<UInt8>? {
        switch type {
        case .text:
            guard let text = try text(in: fields) else { return nil }
            guard choices.isEmpty || choices.contains(where: { text.elementsEqual($0.utf8) }) else {
                throw ItemFault(field: name, reason: "must be one of \(choices.joined(separator: ", ")), is \(ItemFault.quoted(text))")
            }
            return text
        case .url, .image: return try fields.optionalURL(name)
        case .date:
            guard let text = try fields.optionalText(name, limit: 64) else { return nil }
            guard Timestamp.isDateOrMoment(text) else {
                throw ItemFault(
                    field: name, reason: "must be a date such as 2026-05-01 or 2026-05-01T19:00:00Z, is \(ItemFault.quoted(text))")
            }
            return text
        case .number: return try number(in: fields)
        case .boolean:
            guard let token = try fields.token(name) else { return nil }
            guard token.kind == .boolean else { throw ItemFault(field: name, reason: "must be true or false, is \(token.kind.rawValue)") }
            return fields.object.bytes[token.range]
        }
    }

    private func text(in fields: ItemFields) throws(ItemFault) -> ArraySlice<UInt8>? {
        let limit = maximum ?? Self.usualTextLimit
        // A character takes up to four bytes; those are counted first, and what may still be too long after.
        guard let text = try fields.optionalText(name, limit: Int(min(limit, Self.textLimit)) * 4) else { return nil }
        guard Double(text.count) > limit || minimum != nil else { return text }
        let characters = Double(text.count { $0 & 0xC0 != 0x80 })
        guard characters <= limit else { throw ItemFault(field: name, reason: "is longer than \(Self.plain(limit)) characters") }
        if let minimum, characters < minimum {
            throw ItemFault(field: name, reason: "is shorter than \(Self.plain(minimum)) characters")
        }
        return text
    }

    private func number(in fields: ItemFields) throws(ItemFault) -> ArraySlice<UInt8>? {
        guard let token = try fields.token(name) else { return nil }
        guard token.kind == .number else { throw ItemFault(field: name, reason: "must be a number, is \(token.kind.rawValue)") }
        guard let (text, value) = NumberText.canonical(fields.object.bytes[token.range]) else {
            throw ItemFault(field: name, reason: "is too large a number")
        }
        if let minimum, value < minimum { throw ItemFault(field: name, reason: "must be at least \(Self.plain(minimum)), is \(text)") }
        if let maximum, value > maximum { throw ItemFault(field: name, reason: "must be at most \(Self.plain(maximum)), is \(text)") }
        return Array(text.utf8)[...]
    }

    private static func plain(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? number.description
    }
}
