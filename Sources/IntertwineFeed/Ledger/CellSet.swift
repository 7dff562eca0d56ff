/// A set of cells at one moment, for membership checks; valid only inside the call that receives it.
package protocol CellSet {
    func contains(_ cell: String) throws -> Bool
}
