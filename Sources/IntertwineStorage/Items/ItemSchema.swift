internal import IntertwineStorageCore

/// Why: a rowid table with an index for each lane was as fast to fill, but read every page through two trees. Forms are indexed among the
/// ads alone. An index for all items made imports a quarter slower, and no request pages through one form of content.
enum ItemSchema {
    private static let applicationID: Int32 = 0x494E_5457

    /// The page size of new files in bytes.
    /// Why: larger pages make imports cheaper (a tenth less work than with 4 KiB) and small reads more expensive.
    static let pageSize = 8_192

    static let identityIndex = "CREATE UNIQUE INDEX item_identity ON item (kind, id)"

    private static let creation =
        [TableSchema.item, .itemRevision, .section, .sectionKind, .source, .sourceItem, .takedown, .adListing]
        .map { $0.creation(.sqlite) }.joined() + "\(identityIndex);\n" + StoreIdentity.creation + StoreIdentity.beginning

    static func file(_ path: String) -> DatabaseFile {
        DatabaseFile(
            path: path, content: "a store of items", applicationID: applicationID, creation: creation,
            migrations: TableSchema.itemMigrations(.sqlite))
    }
}
