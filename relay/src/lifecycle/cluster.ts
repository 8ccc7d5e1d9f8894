// Makes this relay one of several machines where the operator names an engine. Elsewhere it loads none of that code.

import { CERTIFICATE_FILES } from '../core/certificates/managed-files.ts'
import { QUIC_CERTIFICATE_FILES } from '../core/certificates/quic-certificate.ts'
import type { Settings } from '../core/config/settings.ts'
import type { LeaseSharing } from '../core/lease/lease-sharing.ts'
import type { Logger } from '../core/log/log.ts'
import type { SharedReadBuffer } from '../core/node-internals/shared-read-buffer.ts'
import type { Cluster } from '../features/cluster/start-cluster.ts'
import type { Primary } from './primary.ts'

/** @returns undefined where the relay is one machine; nothing is asked yet */
export async function createCluster(settings: Settings, log: Logger): Promise<Cluster | undefined> {
  const { cluster } = settings
  if (cluster === undefined) return undefined
  const { Cluster } = await import('../features/cluster/start-cluster.ts')
  return new Cluster({ ...settings, cluster }, log)
}

/** Joins the parts of the relay to the other machines. @returns undefined where there are none */
export function joinCluster(
  parts: Primary,
  readBuffer: SharedReadBuffer | undefined,
): LeaseSharing | undefined {
  const { cluster, state, dataPlane, workers, ports, capacity } = parts
  if (cluster === undefined) return undefined
  shareCertificates(cluster, parts)
  return cluster.join({
    ...parts,
    ...state,
    ...dataPlane,
    readBuffer,
    reservations: state.journal.reservations,
    visitorServer: dataPlane.visitorServer,
    visitorsMax: capacity.connections,
    spend: (...claim) => dataPlane.bindings.spend(...claim) || workers.spend(...claim),
    settled: () => workers.settled(),
    resumePorts: (lease) => ports.resume(lease),
  })
}

/** A machine that gets another certificate, such as from the operator, gives it to the others. */
function shareCertificates(cluster: Cluster, { state, datagrams }: Primary): void {
  state.certificates.onReplace(() => void cluster.share(CERTIFICATE_FILES))
  datagrams.certificates.onReplace(() => void cluster.share(QUIC_CERTIFICATE_FILES))
}
