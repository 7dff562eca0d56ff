/// The identification of a reserved slot in a page's token. The impression uses it to end the reservation.
package struct ReservationID: Sendable, Hashable {
    /// A number for the process that made the reservation.
    package var process: UInt16
    /// A number for the time slot in which the reservation was made.
    package var slot: UInt16
    /// The hashed address of an anonymous viewer; 0 for an identified viewer.
    package var address: UInt16

    package init(process: UInt16, slot: UInt16, address: UInt16) {
        (self.process, self.slot, self.address) = (process, slot, address)
    }
}
