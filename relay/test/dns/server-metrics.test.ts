// The counts of the DNS server in the relay's metrics.

import { expect, test } from 'vitest'
import { Metrics } from '../../src/core/metrics/metrics.ts'
import { registerDnsMetrics } from '../../src/features/dns/server-metrics.ts'
import { parseExposition } from '../support/exposition.ts'

test('each count of the DNS server has its metric', async () => {
  const metrics = new Metrics()
  const none = {
    answered: 0,
    truncated: 0,
    malformed: 0,
    not_implemented: 0,
    bad_version: 0,
    rate_limited: 0,
  }
  const queries = { ...none, dropped: 0, failed: 0, refused: 5, nxdomain: 1 }
  registerDnsMetrics(metrics, () => ({ queries, overTcp: 3, connections: 2 }))
  const families = parseExposition(await metrics.text())
  const read = (name: string, labels = ''): number | undefined =>
    families.get(`svc_relay_${name}`)?.samples.get(`svc_relay_${name}${labels}`)
  expect(read('dns_queries_total', '{result="refused"}')).toBe(5)
  expect(read('dns_queries_total', '{result="nxdomain"}')).toBe(1)
  expect(read('dns_tcp_queries_total')).toBe(3)
  expect(read('dns_connections')).toBe(2)
})
