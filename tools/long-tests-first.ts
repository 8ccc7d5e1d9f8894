// Orders test files: those that wait for long come first, so that others compute meanwhile and none is left alone at the end.

import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files of more than ten seconds, most of which are waits for deadlines of the real clock. The longest comes first. */
const LONG: readonly string[] = [
  'relay/test/discovery/five-relays.test.ts',
  'relay/test/api/http/slow-readers.test.ts',
  'sdk-node/test/hops/route-policy.test.ts',
  'sdk-node/test/publish/own-certificate.test.ts',
  'sdk-core/test/site/static-cache.test.ts',
  'relay/test/cache/live-site/bounds.test.ts',
  'relay/test/cluster/faults.test.ts',
  'relay/test/cluster/processes.test.ts',
  'relay/test/cluster/links.test.ts',
  'relay/test/cluster/engine-kinds.test.ts',
  'relay/test/cluster/engine.test.ts',
  'relay/test/certificates/acme/acme-renewal.test.ts',
  'relay/test/overlay/wireguard-link.test.ts',
  'relay/test/cache/live-site/odd-responses.test.ts',
  'relay/test/cache/live-site/faults.test.ts',
  'relay/test/storage/full-disk.test.ts',
  'relay/test/cache/server/bandwidth.test.ts',
  'relay/test/datagram/tunnels.test.ts',
  'sdk-core/test/site/waiting.test.ts',
  'relay/test/protocol/states.test.ts',
  'relay/test/rate-limit/request-memory.test.ts',
  'relay/test/dns/providers/provider-contract.test.ts',
  'sdk-core/test/certificate/site-certificate.test.ts',
  'relay/test/discovery/hostile-relays.test.ts',
  'relay/test/reverse/session-memory.test.ts',
  'sdk-node/test/datagram/tunnel.test.ts',
  'relay/test/reverse/carrier-liveness.test.ts',
  'relay/test/api/endpoint-handler.test.ts',
  'sdk-node/test/carrier/carriers.test.ts',
  'sdk-node/test/publish/relay-workers.test.ts',
  'sdk-node/test/publish/custom-domains.test.ts',
  'relay/test/bridge/client-shares.test.ts',
  'sdk-node/test/cli/cache.test.ts',
  'sdk-core/test/site/events.test.ts',
  'relay/test/api/http/request-deadlines.test.ts',
  'sdk-node/test/expose/waiting.test.ts',
  'sdk-node/test/hold/hold.test.ts',
  'relay/test/reverse/hostile-carrier.test.ts',
  'relay/test/ingress/client-hello-deadline.test.ts',
]

export class LongTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(LONG.map((file, place) => [path.resolve(this.ctx.config.root, file), place]))
    const placeOf = ({ moduleId }: TestSpecification): number => places.get(moduleId) ?? LONG.length
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other))
  }
}
