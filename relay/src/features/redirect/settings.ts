// The setting of the redirect listener.

import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { SettingsTable } from '../../core/config/setting.ts'
import { bindAddress, portNumber } from '../../core/config/setting-values.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** Address of the listener that redirects plain HTTP to https; without a host: every address; undefined: there is none. */
    httpRedirectAddress: { host: string | undefined; port: number } | undefined
  }
}

const TABLE = {
  HTTP_REDIRECT_ADDR: {
    meaning: 'address of a listener that redirects plain HTTP to https: PORT (on every address) or HOST:PORT',
    unset: 'no redirects',
    parse: publicBindAddress,
  },
} satisfies SettingsTable

export const redirectSettings: FeatureSettings = {
  table: TABLE,
  read: (reader, { listenAddress }) => {
    const address = reader.of(TABLE).optional('HTTP_REDIRECT_ADDR')
    return {
      httpRedirectAddress: address && { host: address.host ?? listenAddress, port: address.port },
    }
  },
  listeners: ({ httpRedirectAddress }) => ({ HTTP_REDIRECT_ADDR: httpRedirectAddress?.port }),
}

/** Parses PORT or HOST:PORT. A port without a host means every address, since visitors connect there. */
function publicBindAddress(value: string, setting: string): { host?: string; port: number } {
  return /^\d+$/.test(value) ? { port: portNumber(value, setting) } : bindAddress(value, setting)
}
