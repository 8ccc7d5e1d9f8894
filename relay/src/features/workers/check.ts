// Checks whether the processes of this machine could share its public port.

import { tcpProblem } from '../../core/check/bind.ts'
import { error, type Found, off, ok } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'

export async function checkWorkers({ workers, sniPort, listenAddress: host }: Settings): Promise<Found[]> {
  if (workers === 1) return [off('One process serves everything: SVC_WORKERS is 1.')]
  const problem = await tcpProblem({ port: sniPort, host, reusePort: true })
  if (problem?.code === 'ENOTSUP') return [error('SVC_WORKERS: this system supports only 1.')]
  return [ok(`${workers} processes share TCP port ${sniPort}.`)]
}
