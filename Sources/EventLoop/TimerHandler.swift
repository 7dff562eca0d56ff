/// Receives the coarse timer it was scheduled with. Called on the loop only.
public protocol TimerHandler: AnyObject {
    /// The timer is due. The answer is when it wants to be called again (under the same token), or nil for never.
    ///
    /// A handler whose deadline moves often keeps it in a field and answers with it here: moving a deadline to a later
    /// instant then costs nothing.
    func timerDue(at now: LoopInstant) -> LoopInstant?
}
