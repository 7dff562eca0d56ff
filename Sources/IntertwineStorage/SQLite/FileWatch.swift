/// What became of a database file under the process that has it open.
public enum FileNews: Sendable, Hashable {
    /// It is not there any more, or not alone: nothing is written. One line for operators.
    case gone(String)
    /// It is there again, or another one that is served from now on. One line for operators.
    case back(String)
}

/// Judges, from one look to the next, what became of a database file.
struct FileWatch {
    private(set) var isGone = false
    /// Another file that has taken the place: opened once it has stopped changing, as whoever copies it there may not be done.
    private var successor: OpenedFile.Stamp?

    /// - Parameter open: opens what stands at the path instead; what it throws is tried again with the next look.
    mutating func look(at file: OpenedFile, open: () throws -> Void) -> FileNews? {
        guard let fault = file.fault else {
            guard isGone else { return nil }
            self = FileWatch()
            return .back("\(file.path): is back")
        }
        if !isGone {
            isGone = true
            successor = file.successor
            return .gone("\(file.path): \(fault); nothing is written until it is back")
        }
        guard let found = file.successor, found == successor else {
            successor = file.successor
            return nil
        }
        do {
            file.removeCompanions()
            try open()
            self = FileWatch()
            return .back("\(file.path): another file has taken its place, and is served from now on")
        } catch {
            return nil
        }
    }
}
