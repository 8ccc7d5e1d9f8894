// Certificates by ACME as a feature. A relay whose operator brings certificates loads none of its code.

import type { Feature } from '../../feature.ts'
import { cluster } from '../cluster/index.ts'
import { dns } from '../dns/index.ts'
import { acmeSettings } from './settings.ts'
import type { RunningAcme } from './start-acme.ts'

export { MANAGED } from './settings.ts'
export type { RunningAcme }

export const acme: Feature<RunningAcme> = {
  needs: [dns, cluster],
  settings: acmeSettings,
  isOn: (_settings, { isManaged }) => isManaged,
  start: async (core, running) => {
    const { startAcme } = await import('./start-acme.ts')
    return await startAcme({ ...core, dns: running.get(dns), sharing: running.get(cluster)?.orders })
  },
}
