// The limits of what a client's certificates may cost, with the source and the effect of exceeding each.

/** A path from the client's certificate to a root has at most this many. A longer one is an unknown_ca. */
export const PATH_MAX_CERTIFICATES = 8

/** An RSA modulus has at least this many bits (NIST SP 800-131A). A shorter one is an unsupported_certificate. */
export const RSA_MIN_BITS = 2048

/** An RSA modulus has at most this many bits: verifying takes the square of it. A longer one is an unsupported_certificate. */
export const RSA_MAX_BITS = 8192

/** An RSA exponent has at most this many bytes, as in FIPS 186-5 most: verifying takes as long as it is. */
export const RSA_EXPONENT_MAX_BYTES = 4
