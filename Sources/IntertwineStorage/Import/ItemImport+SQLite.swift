import GRDB
import Glibc
package import IntertwineFeed

extension ItemImport {
    /// `isCompressed`: true if each file must be gzip.
    package convenience init(
        into path: String, kinds: ItemKinds = .standard, sections: [SectionConfiguration] = [], policy: BadItemPolicy = .stop,
        isCompressed: Bool = false, limit: Int = .max, isRehearsal: Bool = false, report: @escaping (InvalidItem) -> Void = { _ in }
    ) throws(StoreError) {
        self.init(
            into: try Self.destination(path, sections, isRehearsal: isRehearsal), at: path, kinds: kinds, policy: policy,
            isCompressed: isCompressed, limit: limit, report: report)
    }

    private static func destination(
        _ path: String, _ sections: [SectionConfiguration], isRehearsal: Bool
    ) throws(StoreError) -> any ImportDestination {
        do {
            guard !isRehearsal else { return try DryRunImport(path) }
            DraftFile.removeAbandoned(path)
            let isNew = access(path, F_OK) != 0 && errno == ENOENT
            return isNew ? try NewFileImport(path, sections: sections) : try StoreDestination(path, sections: sections)
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError {
            throw StoreError(error)
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
