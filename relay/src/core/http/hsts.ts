// Strict-Transport-Security (RFC 6797): browsers use only https for a host, so that plain HTTP on its other ports does
// not share its cookies.

import { isNobodysName } from '../config/setting-values.ts'

export const HSTS_FIELD = 'Strict-Transport-Security'
/** A year, for the host itself only: the names below it are sites, which choose for themselves. */
const HSTS = 'max-age=31536000'

/** Returns the field's value; undefined for names that any program of this machine, or machine of this network, may use. */
export function hstsOf(host: string): string | undefined {
  return isNobodysName(host) ? undefined : HSTS
}
