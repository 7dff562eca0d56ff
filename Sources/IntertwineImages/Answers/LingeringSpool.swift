/// A body that has come to its end, for as long as somebody reads it.
struct LingeringSpool {
    weak var spool: Spool?
}
