package import IntertwineFeed
internal import IntertwinePostgreSQL
package import IntertwineStorage

extension StoreSettings {
    /// Where the items are, as `store.database` says.
    ///
    /// - Throws: `StoreError.unusable` where it is an address that cannot be read.
    package func items() throws(StoreError) -> any ItemLocation {
        guard PostgresAddress.isAddress(database) else { return ItemFile(database) }
        return PostgresItems(try PostgresAddress(database), companions: path(of: "items"))
    }
}
