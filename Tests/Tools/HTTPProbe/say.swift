import Glibc

/// Writes a line at once, whatever standard output is.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(1, bytes, bytes.count)
}
