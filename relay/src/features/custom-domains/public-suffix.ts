// The Public Suffix List. The only importer of tldts, which has the list as 100 KB of code: the first custom domain loads it.

import { getDomain, getPublicSuffix } from 'tldts'

const OPTIONS = { allowPrivateDomains: true, validateHostname: false }

export function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, OPTIONS) === domain
}

/** Whether somebody registered exactly this name: it is the apex of a zone, where no CNAME record can be. */
export function isApex(domain: string): boolean {
  return getDomain(domain, OPTIONS) === domain
}
