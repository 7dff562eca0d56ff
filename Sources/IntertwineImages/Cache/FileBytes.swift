internal import Glibc

/// Whole files in and out. Everything here blocks.
enum FileBytes {
    /// Nil where the file is not there or cannot be read to its end.
    /// - Parameter limit: bytes of the beginning; nil for all.
    static func read(_ path: String, upTo limit: Int? = nil) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_size >= 0 else { return nil }
        return read(descriptor, min(Int(facts.st_size), limit ?? .max))
    }

    /// So many bytes from where the descriptor stands; nil where there are fewer.
    static func read(_ descriptor: Int32, _ size: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let got = Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, size - count)
                if got < 0, errno == EINTR { continue }
                if got <= 0 { return }
                count += got
            }
        }
        return bytes.count == size ? bytes : nil
    }

    /// The system's error number where not all of it could be written; what was is left there.
    static func write(_ bytes: [UInt8], to path: String) -> Int32? {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return errno }
        let error = bytes.withUnsafeBytes { buffer -> Int32? in
            var rest = buffer[...]
            while !rest.isEmpty {
                let put = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if put < 0, errno == EINTR { continue }
                if put <= 0 { return put < 0 ? errno : ENOSPC }
                rest = rest.dropFirst(put)
            }
            return nil
        }
        return close(descriptor) == 0 ? error : error ?? errno
    }

    /// Size in bytes and time of last change in nanoseconds since 1970; nil for anything but a file.
    static func facts(of path: String) -> (bytes: Int, modified: Int64)? {
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return (Int(facts.st_size), Int64(facts.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(facts.st_mtim.tv_nsec))
    }

    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: entry.pointee.d_name)) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
