import Testing
@Test func placeholderH() {}
