/// Receives one fetch. All calls are made on the loop of the ``Transfers``; ``fetchEnded(_:_:)`` exactly once and last.
public protocol FetchDelegate: AnyObject, Sendable {
    /// A redirect makes a fetch go back to an earlier stage.
    func fetch(_ id: FetchID, reached stage: FetchStage)
    /// The request has gone out a second time: the connection that was kept for it was lost before it brought a byte. Nothing by default.
    func fetchRepeats(_ id: FetchID)
    /// A redirect leads on.
    /// - Returns: false to hold the fetch there until ``Transfers/proceed(_:)``. By default nothing is held.
    func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool
    /// - Returns: false to want no more; the fetch then ends with `rejected`.
    func fetch(_ id: FetchID, received head: FetchHead) -> Bool
    /// - Parameter bytes: valid during the call only.
    /// - Returns: false to want no more.
    func fetch(_ id: FetchID, received bytes: UnsafeRawBufferPointer) -> Bool
    func fetchEnded(_ id: FetchID, _ failure: FetchFailure?)
}

extension FetchDelegate {
    public func fetchRepeats(_ id: FetchID) {}
    public func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool { true }
}
