/// A check of the structure of single pages of a database file.
struct PageCheck {
    /// The byte that SQLite locks. The page that contains it is part of no tree, and SQLite never writes it
    /// (<https://www.sqlite.org/fileformat2.html#the_lock_byte_page>).
    private static let lockByte: Int64 = 1 << 30

    private let pageSize: Int
    /// The number of pages by the header.
    private let pages: Int64
    /// The number of the page that SQLite never writes.
    private let lockPage: Int64

    init(_ header: DatabaseHeader) {
        (pageSize, pages) = (header.pageSize, header.pages)
        lockPage = Self.lockByte / Int64(header.pageSize) + 1
    }

    /// Checks pages.
    ///
    /// - Parameters:
    ///   - numbers: the page numbers, from 1.
    ///   - page: returns the bytes of a page; nil after the end of the file.
    /// - Returns: true if a page can be no part of a sound file, and the number of pages of zeros.
    func check(_ numbers: Range<Int64>, page: (Int64) throws -> [UInt8]?) rethrows -> (isSuspect: Bool, zeros: Int64) {
        var (isSuspect, zeros) = (false, Int64(0))
        for number in numbers where number != lockPage {
            guard let page = try page(number) else { break }
            if page.allSatisfy({ $0 == 0 }) { zeros += 1 }
            if !isSound(page, headerAt: number == 1 ? DatabaseHeader.length : 0) { isSuspect = true }
        }
        return (isSuspect, zeros)
    }

    /// Returns true if a page can be a b-tree page, an overflow page or a free page. The digests detect damage that this check misses.
    private func isSound(_ page: [UInt8], headerAt start: Int) -> Bool {
        func number(_ offset: Int) -> Int { Int(page[offset]) << 8 | Int(page[offset + 1]) }
        let headerLength: Int
        switch page[start] {
        case 2, 5: headerLength = 12
        case 10, 13: headerLength = 8
        // The first four bytes are the number of the next page.
        default: return page[0..<4].reduce(0) { $0 << 8 | Int64($1) } <= pages
        }
        let content = number(start + 5) == 0 ? 65_536 : number(start + 5)
        return start + headerLength + 2 * number(start + 3) <= content && content <= page.count
    }
}
