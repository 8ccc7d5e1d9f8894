// The setting of the metrics server.

import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { SettingsTable } from '../../core/config/setting.ts'
import { type BindAddress, bindAddress } from '../../core/config/setting-values.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** Address of the metrics listener; undefined: there is none. */
    metricsAddress: BindAddress | undefined
  }
}

const TABLE = {
  METRICS_ADDR: {
    meaning: 'address of the Prometheus metrics over plain HTTP: PORT (on the loopback address) or HOST:PORT',
    unset: 'no metrics',
    parse: bindAddress,
  },
} satisfies SettingsTable

export const metricsSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => ({ metricsAddress: reader.of(TABLE).optional('METRICS_ADDR') }),
  listeners: ({ metricsAddress }) => ({ METRICS_ADDR: metricsAddress?.port }),
}
