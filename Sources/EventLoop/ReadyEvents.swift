internal import CLinux

/// What a descriptor is watched for, and what it became ready for.
public struct ReadyEvents: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// There are bytes to read, a connection to accept, or the end of the stream.
    public static let readable = ReadyEvents(rawValue: 0x001)
    /// There is room to write.
    public static let writable = ReadyEvents(rawValue: 0x004)
    /// The descriptor failed. Reported whether asked for or not.
    public static let failed = ReadyEvents(rawValue: 0x008)
    /// Both directions are closed. Reported whether asked for or not.
    public static let hungUp = ReadyEvents(rawValue: 0x010)
    /// The peer has closed its sending side.
    public static let peerClosed = ReadyEvents(rawValue: 0x2000)
}
