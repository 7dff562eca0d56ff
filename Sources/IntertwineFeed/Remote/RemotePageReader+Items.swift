/// The list of items itself.
extension RemotePageReader {
    mutating func nextElement(isFirst: Bool) throws(RemotePageFault) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        if isFirst, byte == UInt8(ascii: "]") {
            position += 1
            state = .afterValue
            return nil
        }
        guard byte == UInt8(ascii: "{") else { return try nextStrayElement() }
        let object: JSONObject
        do throws(JSONFault) {
            object = try JSONObject(buffer, at: position)
        } catch {
            guard error.reason == .endOfText, !isAtEnd else { throw fault(error) }
            guard buffer.count - position <= ItemReader.itemLimit else {
                throw fault("an item is longer than \(ItemReader.itemLimit) bytes")
            }
            return .needsBytes
        }
        position = object.range.upperBound
        count += 1
        state = .afterElement
        return check(object)
    }

    /// An element that is no object: read to its end, as the next one may be one.
    private mutating func nextStrayElement() throws(RemotePageFault) -> Outcome {
        guard let token = try scan({ (scanner, bytes) throws(JSONFault) in try scanner.value(bytes) }) else { return .needsBytes }
        count += 1
        state = .afterElement
        return .bad(ItemFault(reason: "must be an object, is \(token.kind.rawValue)"))
    }

    mutating func nextElementSeparator() throws(RemotePageFault) -> Outcome? {
        guard let byte = try peek() else { return .needsBytes }
        switch byte {
        case UInt8(ascii: ","): state = .element(isFirst: false)
        case UInt8(ascii: "]"): state = .afterValue
        default: throw fault(JSONFault(.expectedCommaOrEnd, at: position))
        }
        position += 1
        return nil
    }

    private func check(_ object: JSONObject) -> Outcome {
        do throws(ItemFault) {
            return .item(try kind.validate(fields?.fields(from: object) ?? ItemFields(object)))
        } catch {
            return .bad(fields?.located(error) ?? error)
        }
    }
}
