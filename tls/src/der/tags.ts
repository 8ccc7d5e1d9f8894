// Identifier octets of the types that certificates use (X.690 §8, RFC 5280, RFC 2986).

export const boolean = 0x01
export const integer = 0x02
export const bitString = 0x03
export const octetString = 0x04
export const objectIdentifier = 0x06
export const utf8String = 0x0c
export const utcTime = 0x17
export const generalizedTime = 0x18
export const sequence = 0x30
export const set = 0x31
/** `[0] IMPLICIT` of a primitive type: keyIdentifier of an AuthorityKeyIdentifier. */
export const context0 = 0x80
/** dNSName of a GeneralName. */
export const dnsName = 0x82
/** `[0]` of a constructed type: the version of a certificate, the attributes of a request. */
export const constructed0 = 0xa0
/** `[3]` of a constructed type: the extensions of a certificate. */
export const constructed3 = 0xa3
