internal import Feed

/// Writes one line, as text or as a JSON object: time, level, message, then fields.
struct LogLine {
    private let isJSON: Bool

    init(json: Bool) {
        isJSON = json
    }

    func begin(_ stamp: inout TimeStamp, level: String, message: String, into bytes: inout [UInt8]) {
        if isJSON {
            bytes += #"{"time":""#.utf8
            stamp.append(to: &bytes)
            bytes += #"","level":""#.utf8
            bytes += level.utf8
            bytes += #"","message":"#.utf8
            JSONText.append(message.utf8, to: &bytes)
        } else {
            stamp.append(to: &bytes)
            bytes.append(UInt8(ascii: " "))
            bytes += level.utf8
            bytes.append(UInt8(ascii: " "))
            Self.appendPlain(message.utf8, to: &bytes)
        }
    }

    /// - Parameter name: plain; names are ours.
    func field(_ name: StaticString, text: some Collection<UInt8>, into bytes: inout [UInt8]) {
        key(name, into: &bytes)
        value(text, into: &bytes)
    }

    func field(_ name: String, text: some Collection<UInt8>, into bytes: inout [UInt8]) {
        if isJSON {
            bytes.append(UInt8(ascii: ","))
            JSONText.append(name.utf8, to: &bytes)
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
        Self.append(number, to: &bytes)
    }

    /// - Parameter thousandths: of the unit that the name tells.
    func field(_ name: StaticString, thousandths: Int, into bytes: inout [UInt8]) {
        key(name, into: &bytes)
        Self.append(thousandths / 1_000, to: &bytes)
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
            JSONText.append(text, to: &bytes)
        } else if !text.isEmpty, text.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C }) {
            bytes.append(contentsOf: text)
        } else {
            // Quoted as JSON has it: one line stays one line, whatever a client sent.
            JSONText.append(text, to: &bytes)
        }
    }

    /// Text without what would end the line.
    private static func appendPlain(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
        for byte in text { bytes.append(byte < 0x20 || byte == 0x7F ? UInt8(ascii: " ") : byte) }
    }

    static func append(_ number: Int, to bytes: inout [UInt8]) {
        guard number > 0 else {
            bytes += (number == 0 ? "0" : String(number)).utf8
            return
        }
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { buffer in
            var rest = number
            var start = buffer.count
            while rest > 0, start > 0 {
                start -= 1
                buffer[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            bytes.append(contentsOf: buffer[start...])
        }
    }
}
