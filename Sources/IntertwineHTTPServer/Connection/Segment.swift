/// Bytes that wait for a client to take them.
struct Segment {
    let bytes: [UInt8]
    var rest: Range<Int>
}
