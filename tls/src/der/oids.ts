// Object identifiers, as the content of an element in hexadecimal.

/** extensionRequest (RFC 2985 §5.4.2). */
export const extensionRequest = '2a864886f70d01090e'
export const subjectAltName = '551d11'
export const authorityKeyIdentifier = '551d23'
export const ecdsaWithSha256 = '2a8648ce3d040302'
