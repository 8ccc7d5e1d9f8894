// Strict-Transport-Security (RFC 6797): browsers use only https for a host, so that plain HTTP on its other ports does
// not share its cookies.

export const HSTS_FIELD = 'Strict-Transport-Security'
/** A year, for the host itself only: the names below it are sites, which choose for themselves. */
const HSTS = 'max-age=31536000'
const LOCALHOST = /(?:^|\.)localhost$/

/** Returns the field's value; undefined for `localhost` names, which any program on this machine may use. */
export function hstsOf(host: string): string | undefined {
  return LOCALHOST.test(host) ? undefined : HSTS
}
