internal import IntertwinePrimitives

/// Writes one line, as text or as a JSON object: time, level, message, then fields.
struct LogLine {
    private let isJSON: Bool

    init(json: Bool) {
        isJSON = json
    }

    func begin(level: String, message: String, into bytes: inout [UInt8]) {
        if isJSON {
            bytes += #"{"time":""#.utf8
            Timestamp.appendExact(milliseconds: WallClock.now(), to: &bytes)
            bytes += #"","level":""#.utf8
            bytes += level.utf8
            bytes += #"","message":"#.utf8
            Self.appendQuoted(message.utf8, to: &bytes)
        } else {
            Timestamp.appendExact(milliseconds: WallClock.now(), to: &bytes)
            bytes.append(UInt8(ascii: " "))
            bytes += level.utf8
            bytes.append(UInt8(ascii: " "))
            Self.appendPlain(message.utf8, to: &bytes)
        }
    }

    func field(_ name: String, text: some Collection<UInt8>, into bytes: inout [UInt8]) {
        if isJSON {
            bytes.append(UInt8(ascii: ","))
            Self.appendQuoted(name.utf8, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
        } else {
            bytes.append(UInt8(ascii: " "))
            Self.appendPlain(name.utf8, to: &bytes)
            bytes.append(UInt8(ascii: "="))
        }
        value(text, into: &bytes)
    }

    func field(_ name: StaticString, number: Int, into bytes: inout [UInt8]) {
        key(name, into: &bytes)
        bytes.append(decimal: Int64(number))
    }

    /// - Parameter thousandths: of the unit that the name tells.
    func field(_ name: StaticString, thousandths: Int, into bytes: inout [UInt8]) {
        key(name, into: &bytes)
        bytes.append(decimal: Int64(thousandths / 1_000))
        bytes.append(UInt8(ascii: "."))
        let rest = thousandths % 1_000
        for digit in [rest / 100, rest / 10 % 10, rest % 10] { bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)) }
    }

    func end(_ bytes: inout [UInt8]) {
        if isJSON { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
    }

    private func key(_ name: StaticString, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: isJSON ? "," : " "))
        if isJSON { bytes.append(UInt8(ascii: "\"")) }
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        if isJSON { bytes.append(UInt8(ascii: "\"")) }
        bytes.append(UInt8(ascii: isJSON ? ":" : "="))
    }

    private func value(_ text: some Collection<UInt8>, into bytes: inout [UInt8]) {
        if isJSON {
            Self.appendQuoted(text, to: &bytes)
        } else if !text.isEmpty, text.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C }) {
            bytes.append(contentsOf: text)
        } else {
            // Quoted as JSON has it: one line stays one line, whatever a client sent.
            Self.appendQuoted(text, to: &bytes)
        }
    }

    /// Text without what would end the line, or do more to a terminal than show itself.
    private static func appendPlain(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
        // As almost all is: whether a scalar is seen is not looked up for it.
        if text.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return bytes.append(contentsOf: text) }
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            bytes += scalar.isUnseen ? " ".utf8 : String(scalar).utf8
        }
    }

    /// As JSON has it, with more escapes than JSON asks for: nothing in it does more to a terminal than show itself.
    private static func appendQuoted(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
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
    /// Controls, C1 among them, marks that turn the direction of the text, and what ends a line or a paragraph.
    fileprivate var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
