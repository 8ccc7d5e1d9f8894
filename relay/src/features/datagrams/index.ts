// UDP ports of sites, through tunnels over QUIC, as a feature. A relay without them loads none of their code.

import { QUIC_CERTIFICATE_FILES, type QuicCertificates } from '../../core/certificates/quic-certificate.ts'
import type { Feature, Running } from '../../feature.ts'
import type { DatagramForwarder } from './datagram-forwarder.ts'

export interface RunningDatagrams extends Running {
  /** Binds the UDP port of a lease. Rejects when the port cannot be bound. */
  bind: DatagramForwarder['open']
  /** Whether there can be no tunnel, so that no lease can have a UDP port. */
  hasNoTunnels(): boolean
  certificates: Pick<QuicCertificates, 'onReplace'>
}

export const datagrams: Feature<RunningDatagrams> = {
  isOn: ({ portGates, portRange }) => portGates.udp && portRange !== undefined,
  start: async (core) => {
    const { createDatagrams } = await import('./create-datagrams.ts')
    const { forwarder, endpoint, certificates, metrics } = createDatagrams(core)
    return {
      bind: (port, currentLease) => forwarder.open(port, currentLease),
      hasNoTunnels: () => endpoint.isMissing,
      certificates,
      problems: () => endpoint.problems,
      reloaded: {
        what: 'QUIC certificate',
        files: QUIC_CERTIFICATE_FILES,
        reload: () => certificates.reload(),
      },
      metrics,
      // The QUIC endpoint has the number of the public port.
      listen: ({ port }) => core.state.certificates.first(() => endpoint.listen(port)),
      close: () => endpoint.close(),
    }
  },
}
