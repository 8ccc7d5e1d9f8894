// Holds the limits of polls for the operator's approval, as ../limits.ts does for what a page downloads at once.

/** The SDK first polls for the operator's approval after this. */
export const APPROVAL_POLL_MIN_MS = 1_000
/** Each later poll comes after this share of the time that the site has waited. */
export const APPROVAL_POLL_SHARE = 0.25
/** Polls for approval are at most this far apart: each costs the relay one signature. */
export const APPROVAL_POLL_MAX_MS = 10_000
