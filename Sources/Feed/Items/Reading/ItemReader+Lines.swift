extension ItemReader {
    /// NDJSON: one item on each line; empty lines are nothing.
    mutating func nextLine() -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else {
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        let end: Int
        if let newline = buffer[position...].firstIndex(of: 0x0A) {
            end = newline
        } else if buffer.count - position > Self.itemLimit {
            state = .lines(skipping: true)
            return bad(tooLong)
        } else if isAtEnd {
            end = buffer.count
        } else {
            return .needsBytes
        }
        defer { position = end }
        guard end - position <= Self.itemLimit else { return bad(tooLong) }
        do throws(JSONFault) {
            let object = try JSONObject(buffer, at: position)
            guard buffer[object.range.upperBound..<max(end, object.range.upperBound)].allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D })
            else {
                return bad(ItemFault(JSONFault(.trailingBytes, at: position)))
            }
            // An object that goes on behind the newline is no line: the line is cut off there.
            guard object.range.upperBound <= end else { return bad(ItemFault(JSONFault(.endOfText, at: position))) }
            return check(object)
        } catch {
            return bad(ItemFault(JSONFault(error.offset > end ? .endOfText : error.reason, at: position)))
        }
    }

    /// What is left of a line that is too long.
    mutating func skipLine() -> Outcome? {
        guard let newline = buffer[position...].firstIndex(of: 0x0A) else {
            position = buffer.count
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        position = newline
        state = .lines(skipping: false)
        return nil
    }

    /// The item that an object is; it begins at ``position``.
    func check(_ object: JSONObject) -> Outcome {
        do throws(ItemFault) {
            return .item(try kinds.validate(ItemFields(object)))
        } catch {
            return bad(error)
        }
    }
}
