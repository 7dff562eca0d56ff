public import Crypto

extension SigningKey {
    /// A key for one purpose, made of this one: what knows it can neither make nor check values of another purpose.
    ///
    /// HMAC-SHA256 over the purpose's name, 32 bytes.
    public func derived(for purpose: SigningPurpose) -> SymmetricKey {
        let label = Array("intertwine/\(purpose.rawValue)/1".utf8)
        return SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: label, using: SymmetricKey(data: bytes)))
    }
}
