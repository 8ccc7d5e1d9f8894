// The limits of what a client may send, with the effect of exceeding each.

/** The most certificates in a client's Certificate message. More are a bad_certificate. */
export const CERTIFICATES_MAX = 10

/** The most bytes of the CAs' names in a CertificateRequest, half of what fits. It leaves all of them out when there are more. */
export const NAMES_MAX_BYTES: number = 32 * 1024
