// The security contact as a feature: `/.well-known/security.txt` of the relay's host says where to report a vulnerability.

import { off, ok } from '../../core/check/finding.ts'
import type { Feature } from '../../feature.ts'
import { securityContactSettings } from './settings.ts'

export const securityContact: Feature = {
  settings: securityContactSettings,
  checks: {
    'security contact': ({ securityContacts, url }) => [
      securityContacts.length === 0
        ? off(`SECURITY_CONTACT is not set: nobody learns from ${url.host} where to report a vulnerability.`)
        : ok(`${url.origin}/.well-known/security.txt names ${securityContacts.join(', ')}.`),
    ],
  },
  isOn: ({ securityContacts }) => securityContacts.length > 0,
  start: async ({ settings: { securityContacts, url } }) => {
    const { securityTextRoute } = await import('./security-text.ts')
    return { routes: ({ writer }) => securityTextRoute(writer, securityContacts, url.origin) }
  },
}
