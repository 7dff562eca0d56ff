extension ItemReader {
    /// An item, or the end of the array where one may be.
    mutating func nextArrayItem(isFirst: Bool) -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? cutOff() : .needsBytes }
        if isFirst, buffer[position] == UInt8(ascii: "]") {
            position += 1
            state = .afterArray
            return nil
        }
        do throws(JSONFault) {
            let object = try JSONObject(buffer, at: position)
            let outcome = object.range.count > Self.itemLimit ? bad(tooLong) : check(object)
            consume(to: object.range.upperBound)
            state = .arraySeparator
            return outcome
        } catch {
            if error.reason == .endOfText, !isAtEnd {
                // Tried again with every piece of the file: few, as an item is at most a few pieces long.
                guard buffer.count - position > Self.itemLimit else { return .needsBytes }
                state = .resynchronising(ItemResynchroniser())
                return bad(tooLong)
            }
            state = .resynchronising(ItemResynchroniser())
            return bad(ItemFault(error))
        }
    }

    mutating func nextSeparator() -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else { return isAtEnd ? cutOff() : .needsBytes }
        switch buffer[position] {
        case UInt8(ascii: ","):
            position += 1
            state = .arrayItem(isFirst: false)
            return nil
        case UInt8(ascii: "]"):
            position += 1
            state = .afterArray
            return nil
        case UInt8(ascii: "{"):
            // The comma is missing; the item behind it need not be.
            state = .arrayItem(isFirst: false)
        default: state = .resynchronising(ItemResynchroniser())
        }
        return bad(ItemFault(JSONFault(.expectedCommaOrEnd, at: position)))
    }

    mutating func resynchronise(_ resynchroniser: ItemResynchroniser) -> Outcome? {
        var resynchroniser = resynchroniser
        while position < buffer.count {
            let byte = buffer[position]
            switch resynchroniser.receive(byte) {
            case .inside:
                if byte == 0x0A { line += 1 }
                position += 1
            case .behindItem:
                position += 1
                state = .arraySeparator
                return nil
            case .atSeparator:
                state = .arraySeparator
                return nil
            case .atItem:
                state = .arrayItem(isFirst: false)
                return nil
            }
        }
        guard isAtEnd else {
            state = .resynchronising(resynchroniser)
            return .needsBytes
        }
        // The bad item has been reported: that the array has no end either is part of it.
        state = .finished
        return nil
    }

    mutating func finishArray() -> Outcome? {
        skipWhitespace()
        guard position < buffer.count else {
            guard isAtEnd else { return .needsBytes }
            state = .finished
            return nil
        }
        // A broken item can end the array before its time: what looks like an item behind it is one.
        state = buffer[position] == UInt8(ascii: "{") ? .arrayItem(isFirst: false) : .resynchronising(ItemResynchroniser())
        return bad(ItemFault(reason: "something follows the end of the array"))
    }

    private mutating func cutOff() -> Outcome {
        state = .finished
        return bad(ItemFault(reason: "the array has no end"))
    }
}
