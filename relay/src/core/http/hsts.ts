// Strict-Transport-Security (RFC 6797): browsers use https alone for a host, so that no other port of it shares its cookies.

export const HSTS_FIELD = 'Strict-Transport-Security'
/** A year, for the host itself: the names below it are sites, which speak for themselves. */
const HSTS = 'max-age=31536000'
const LOCALHOST = /(?:^|\.)localhost$/

/** Returns the field's value; undefined below `localhost`, whose names are anybody's on this machine. */
export function hstsOf(host: string): string | undefined {
  return LOCALHOST.test(host) ? undefined : HSTS
}
