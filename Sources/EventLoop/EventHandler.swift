/// Receives what happens on a descriptor that is registered with an ``EventLoop``. Called on the loop only.
public protocol EventHandler: AnyObject {
    /// The descriptor is ready for what `events` says. Level-triggered: what is left undone is reported again.
    func ready(_ events: ReadyEvents)
}
