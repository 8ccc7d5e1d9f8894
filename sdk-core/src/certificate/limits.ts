// The limits of the site's own certificate. A page loads them later than the rest.

/** The SDK requests the site's next own certificate when this share of the validity is left. */
export const RENEWAL_SHARE: number = 1 / 3
/** After a failure the SDK waits this long before it requests the site's own certificate again, or up to half less at random. */
export const CERTIFICATE_RETRY_FIRST_MS = 10_000
/** Each further failure doubles the pause, up to this: a CA that is down is back within hours. */
export const CERTIFICATE_RETRY_MAX_MS: number = 60 * 60_000
/** The longest time that the SDK waits when a relay asks it to, while the relay gets the certificate. */
export const CERTIFICATE_WAIT_MAX_MS: number = 60 * 60_000
