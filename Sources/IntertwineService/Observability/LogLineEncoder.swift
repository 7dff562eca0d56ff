internal import IntertwinePrimitives

struct LogLineEncoder {
    private(set) var bytes: [UInt8] = []
    private var isJSON = false
    private var time: [UInt8] = []
    private var second = Int64.min

    mutating func replaceBuffer(_ empty: [UInt8]) -> [UInt8] {
        defer { bytes = empty }
        return bytes
    }

    mutating func begin(level: String, message: String, json: Bool, at now: Int64 = WallClock.now()) {
        isJSON = json
        if isJSON {
            bytes += #"{"time":""#.utf8
            appendTime(now)
            bytes += #"","level":""#.utf8
            bytes += level.utf8
            bytes += #"","message":"#.utf8
            appendQuoted(message.utf8)
        } else {
            appendTime(now)
            bytes.append(UInt8(ascii: " "))
            bytes += level.utf8
            bytes.append(UInt8(ascii: " "))
            appendPlain(message.utf8)
        }
    }

    mutating func field(_ name: String, text: some Collection<UInt8>) {
        if isJSON {
            bytes.append(UInt8(ascii: ","))
            appendQuoted(name.utf8)
            bytes.append(UInt8(ascii: ":"))
        } else {
            bytes.append(UInt8(ascii: " "))
            appendPlain(name.utf8)
            bytes.append(UInt8(ascii: "="))
        }
        appendValue(text)
    }

    mutating func field(_ name: StaticString, number: Int) {
        appendKey(name)
        bytes.append(decimal: Int64(number))
    }

    mutating func field(_ name: StaticString, thousandths: Int) {
        appendKey(name)
        bytes.append(decimal: Int64(thousandths / 1_000))
        appendFraction(thousandths % 1_000)
    }

    mutating func end() {
        if isJSON { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func appendTime(_ now: Int64) {
        let (whole, rest) = now.quotientAndRemainder(dividingBy: 1_000)
        if whole != second {
            second = whole
            time = Array(Timestamp.text(milliseconds: now).utf8.dropLast())
        }
        bytes += time
        appendFraction(Int(rest))
        bytes.append(UInt8(ascii: "Z"))
    }

    private mutating func appendFraction(_ thousandths: Int) {
        bytes.append(UInt8(ascii: "."))
        for digit in [thousandths / 100, thousandths / 10 % 10, thousandths % 10] {
            bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit))
        }
    }

    private mutating func appendKey(_ name: StaticString) {
        bytes.append(UInt8(ascii: isJSON ? "," : " "))
        if isJSON { bytes.append(UInt8(ascii: "\"")) }
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        if isJSON { bytes.append(UInt8(ascii: "\"")) }
        bytes.append(UInt8(ascii: isJSON ? ":" : "="))
    }

    private mutating func appendValue(_ text: some Collection<UInt8>) {
        if !isJSON, !text.isEmpty, text.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C }) {
            bytes.append(contentsOf: text)
        } else {
            // The text is quoted as in JSON, so that a client's text cannot begin a new line.
            appendQuoted(text)
        }
    }

    private mutating func appendPlain(_ text: some Collection<UInt8>) {
        // Almost all texts are ASCII and need no lookup of scalar properties.
        if text.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return bytes.append(contentsOf: text) }
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            bytes += scalar.isUnseen ? " ".utf8 : String(scalar).utf8
        }
    }

    /// Appends a JSON string with more escapes than JSON requires, so that it contains no character that controls a terminal.
    private mutating func appendQuoted(_ text: some Collection<UInt8>) {
        guard text.contains(where: { $0 >= 0x7F }) else { return bytes.append(jsonString: text) }
        var quoted: [UInt8] = []
        quoted.append(jsonString: text)
        for scalar in String(decoding: quoted, as: UTF8.self).unicodeScalars {
            guard scalar.isUnseen else {
                bytes += String(scalar).utf8
                continue
            }
            for unit in String(scalar).utf16 {
                bytes += "\\u".utf8
                bytes.append(hexadecimal: UInt64(unit), digits: 4)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
