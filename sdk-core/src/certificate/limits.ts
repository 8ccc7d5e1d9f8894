// Holds the limits of the site's own certificate, as ../limits.ts does for what a page downloads at once.

/** The SDK asks for the next certificate of the site's own when this share of the validity is left. */
export const RENEWAL_SHARE: number = 1 / 3
/** After a failure the SDK waits this long before it asks for the site's own certificate again, or a random half less. */
export const CERTIFICATE_RETRY_FIRST_MS = 10_000
/** Each further failure doubles that, up to this: an authority that is away is back within hours. */
export const CERTIFICATE_RETRY_MAX_MS: number = 60 * 60_000
/** A longer time than this, for which a relay asks while it gets a certificate, is cut to it. */
export const CERTIFICATE_WAIT_MAX_MS: number = 60 * 60_000
