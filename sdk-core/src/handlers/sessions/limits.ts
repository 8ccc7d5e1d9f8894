// The limits of sessions, each with its unit and reason.

/** The life of a session, in milliseconds: visitors sign in once a day. */
export const SESSION_MS: number = 24 * 60 * 60_000
/**
 * The most remembered sign-outs of each subject: more than a person makes in a day. Beyond that, all sessions of that subject
 * that are as old as the first of them end.
 */
export const SIGN_OUTS_MAX = 100
