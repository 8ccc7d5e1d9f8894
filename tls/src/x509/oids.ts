// Object identifiers of certificates, lists and keys, as the content of an element in hexadecimal.

/** Extensions (RFC 5280 §4.2.1, §5.2). */
export const subjectKeyIdentifier = '551d0e'
export const keyUsage = '551d0f'
export const subjectAltName = '551d11'
export const basicConstraints = '551d13'
export const nameConstraints = '551d1e'
export const authorityKeyIdentifier = '551d23'
export const extKeyUsage = '551d25'

/** The key purpose id-kp-clientAuth (§4.2.1.12). */
export const clientAuth = '2b06010505070302'

/** Keys (RFC 3279 §2.3.1, RFC 5480 §2.1.1, RFC 8410 §3). */
export const rsaEncryption = '2a864886f70d010101'
export const ecPublicKey = '2a8648ce3d0201'
export const secp256r1 = '2a8648ce3d030107'
export const secp384r1 = '2b81040022'
export const ed25519 = '2b6570'

/** Signatures (RFC 4055 §3, §5; RFC 5758 §3.2). */
export const rsassaPss = '2a864886f70d01010a'
export const mgf1 = '2a864886f70d010108'
export const sha256 = '608648016503040201'
export const sha384 = '608648016503040202'
export const sha512 = '608648016503040203'
export const sha256WithRsa = '2a864886f70d01010b'
export const sha384WithRsa = '2a864886f70d01010c'
export const sha512WithRsa = '2a864886f70d01010d'
export const ecdsaWithSha256 = '2a8648ce3d040302'
export const ecdsaWithSha384 = '2a8648ce3d040303'
export const ecdsaWithSha512 = '2a8648ce3d040304'
