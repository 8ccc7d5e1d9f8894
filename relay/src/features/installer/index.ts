// The installer as a feature: scripts and downloads with which a machine gets `svc` from this relay.

import { RELEASE_VERSION } from '../../core/version.ts'
import type { Feature } from '../../feature.ts'
import { installerSettings } from './settings.ts'

export const installer: Feature = {
  settings: installerSettings,
  checks: { installer: async (settings) => (await import('./check.ts')).checkInstaller(settings) },
  isOn: () => true,
  start: async ({ settings: { installDir: directory, url } }) => {
    const [{ createInstaller }, { hasDownloads }] = await Promise.all([
      import('./installer.ts'),
      import('./directory.ts'),
    ])
    const { origin } = url
    return {
      domain: async () => ((await hasDownloads(directory)) ? { downloads: true } : {}),
      routes: (api) => createInstaller({ ...api, directory, origin, release: RELEASE_VERSION }),
    }
  },
}
