// The limit of an identity as text.
import { formatBytes } from '../common/format.ts'
import { SITE } from '../texts/admin.ts'

/** @param bps bytes per second; 0 without a limit */
export function limitOf(bps: number): string {
  return bps === 0 ? SITE.unlimited : SITE.rate(formatBytes(bps))
}
