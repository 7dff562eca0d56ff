internal import Glibc
internal import IntertwinePrimitives

/// The file format of a cached image: magic number, SHA-256 checksum of the rest, metadata, body.
/// The result is then a cache miss, never a wrong image.
enum ImageFile {
    private static let magic = Array("ITWPIC04".utf8)

    static let besideBody = 4_096

    static func encode(_ image: CachedImage) -> [UInt8] {
        var facts = ByteWriter()
        facts.write(image.kind.rawValue | (image.shortfall?.rawValue ?? 0))
        let freshness = image.freshness
        facts.write(freshness.revalidation.rawValue)
        // 255 marks an image common to all clients.
        facts.write(image.variant?.rawValue ?? UInt8.max)
        for number in [
            freshness.generatedAt, freshness.freshUntil, freshness.localFreshUntil, freshness.staleWhileRevalidateUntil,
            freshness.staleIfErrorUntil,
        ] {
            facts.write(number)
        }
        let (validators, terms) = (image.validators, image.terms)
        for text in [
            image.source, image.etag, validators.etag, validators.lastModified, validators.location, terms.cacheControl, terms.expires,
            terms.vary, image.sizing?.text,
        ] {
            facts.write(text)
        }
        let body = image.body.bytes
        var bytes = magic
        bytes.reserveCapacity(magic.count + SHA256.byteCount + facts.bytes.count + body.count)
        var checksum = SHA256()
        checksum.update(data: facts.bytes)
        checksum.update(data: body)
        bytes.append(contentsOf: checksum.finalize())
        bytes.append(contentsOf: facts.bytes)
        bytes.append(contentsOf: body)
        return bytes
    }

    static func source(_ beginning: [UInt8]) -> String? {
        guard beginning.starts(with: magic) else { return nil }
        // Three bytes and five numbers precede the source.
        var reader = ByteReader(beginning.dropFirst(magic.count + SHA256.byteCount + 3 + 5 * 8))
        return reader.readText() ?? nil
    }

    static func decode(_ bytes: [UInt8]) -> CachedImage? {
        let start = magic.count + SHA256.byteCount
        guard bytes.count > start, bytes.starts(with: magic) else { return nil }
        let checksum = bytes.withUnsafeBytes { SHA256.hash(data: UnsafeRawBufferPointer(rebasing: $0[start...])) }
        guard checksum.elementsEqual(bytes[magic.count..<start]) else { return nil }
        var reader = ByteReader(bytes[start...])
        guard let flags = reader.readByte(), let kind = ImageFormat(rawValue: flags & 0x3f),
            let revalidation = reader.readByte().flatMap(Freshness.Revalidation.init(rawValue:)), let variant = reader.readByte(),
            let born = reader.readInt64(),
            let fresh = reader.readInt64(), let privately = reader.readInt64(), let revalidate = reader.readInt64(),
            let error = reader.readInt64(),
            case let source?? = reader.readText(), case let etag?? = reader.readText(),
            let originTag = reader.readText(), let modified = reader.readText(), let location = reader.readText(),
            let control = reader.readText(), let expires = reader.readText(), let vary = reader.readText(),
            let size = reader.readText()
        else { return nil }
        let sizing = size.flatMap { ResizeMode($0) }
        guard (size == nil) == (sizing == nil) else { return nil }
        return CachedImage(
            source: source, variant: variant == .max ? nil : AcceptedFormats.Set(rawValue: variant), sizing: sizing, kind: kind,
            shortfall: CachedImage.Shortfall(rawValue: flags & 0xc0), body: ImageBody(Array(reader.remaining)), etag: etag,
            freshness: Freshness(
                generatedAt: born, freshUntil: fresh, localFreshUntil: privately, staleWhileRevalidateUntil: revalidate,
                staleIfErrorUntil: error, revalidation: revalidation),
            validators: CachedImage.Validators(etag: originTag, lastModified: modified, location: location),
            terms: CachedImage.FreshnessMetadata(cacheControl: control, expires: expires, vary: vary))
    }
}

enum FileBytes {
    static func read(_ path: String, upTo limit: Int? = nil) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_size >= 0 else { return nil }
        return read(descriptor, min(Int(facts.st_size), limit ?? .max))
    }

    static func read(_ descriptor: Int32, _ size: Int) -> [UInt8]? {
        let bytes = FileIO.read(descriptor, size)
        return bytes.count == size ? bytes : nil
    }

    /// The system error number if the write was incomplete (the written part remains), otherwise nil.
    static func write(_ bytes: [UInt8], to path: String) -> Int32? {
        let descriptor = OwnedFile.open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW)
        guard descriptor >= 0 else { return errno }
        let error = bytes.withUnsafeBytes { FileIO.write($0, to: descriptor) == $0.count ? nil : errno }
        return close(descriptor) == 0 ? error : error ?? errno
    }

    /// Returns the size in bytes and the modification time in nanoseconds since 1970; nil for anything but a regular file.
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
