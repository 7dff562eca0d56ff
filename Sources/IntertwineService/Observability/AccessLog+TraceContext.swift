internal import IntertwinePrimitives
internal import Synchronization

/// The trace context of a request (W3C Trace Context, level 1, section 3.2).
extension AccessLog {
    private static let seed = Atomic(UInt64.random(in: 1...UInt64.max))

    static func isTraceParent(_ value: String) -> Bool {
        let bytes = Array(value.utf8)
        guard bytes.count >= 55, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash else { return false }
        let (version, trace, parent, flags) = (bytes[0..<2], bytes[3..<35], bytes[36..<52], bytes[53..<55])
        guard [version, trace, parent, flags].allSatisfy({ $0.allSatisfy(isHexadecimal) }) else { return false }
        guard !version.elementsEqual("ff".utf8), bytes.count == 55 || !version.elementsEqual("00".utf8) && bytes[55] == dash else {
            return false
        }
        return trace.contains { $0 != zero } && parent.contains { $0 != zero }
    }

    static func appendTraceParent(continuing value: String?, to bytes: inout [UInt8]) {
        bytes += "00-".utf8
        if let value, isTraceParent(value) {
            bytes += value.utf8.dropFirst(3).prefix(33)
            appendRandom(to: &bytes)
            bytes += value.utf8.dropFirst(52).prefix(3)
        } else {
            appendRandom(to: &bytes)
            appendRandom(to: &bytes)
            bytes.append(dash)
            appendRandom(to: &bytes)
            bytes += "-00".utf8
        }
    }

    static func appendRandom(to bytes: inout [UInt8]) {
        let state = seed.wrappingAdd(SplitMix64.increment, ordering: .relaxed).newValue
        bytes.append(hexadecimal: max(SplitMix64.mix(state), 1), digits: 16)
    }

    private static let dash = UInt8(ascii: "-")
    private static let zero = UInt8(ascii: "0")

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        byte &- zero <= 9 || byte &- UInt8(ascii: "a") <= 5
    }
}
