// The setting of the installer.

import { resolve } from 'node:path'
import type { FeatureSettings } from '../../core/config/feature-settings.ts'
import type { SettingsTable } from '../../core/config/setting.ts'

declare module '../../core/config/settings.ts' {
  interface Settings {
    /** Directory that `/api/install` serves; undefined: the one that comes with the relay. */
    installDir: string | undefined
  }
}

const TABLE = {
  SVC_INSTALL_DIR: {
    meaning:
      'directory with bin/ for /api/install, and own scripts install.sh and install.ps1 if there are any',
    unset: 'the downloads that the relay brings along, if any',
    parse: (value) => resolve(value),
  },
} satisfies SettingsTable

export const installerSettings: FeatureSettings = {
  table: TABLE,
  read: (reader) => ({ installDir: reader.of(TABLE).optional('SVC_INSTALL_DIR') }),
}
