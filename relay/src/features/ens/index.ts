// ENS names of the relay and its sites as a feature. A relay without them loads none of their code.

import type { Feature } from '../../feature.ts'
import { dns, EMBEDDED } from '../dns/index.ts'
import { ensSettings } from './settings.ts'

export const ens: Feature = {
  needs: [dns],
  settings: ensSettings,
  isOn: (settings, state) => settings.ensGasless === true && dns.isOn(settings, state),
  start: async ({ settings, state, log }, running) => {
    const { startEns } = await import('./start-ens.ts')
    const { provider, addresses } = running.get(dns)!
    const { status, close } = await startEns({
      provider,
      isEmbedded: provider.name === EMBEDDED,
      rootHost: settings.rootHost,
      relayAddress: state.identity.address,
      directory: settings.identityPath,
      leases: state.leases,
      addresses,
      log,
    })
    return { domain: () => ({ ens: status() }), close }
  },
}
