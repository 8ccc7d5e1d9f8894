// What the overview of the administration says to be wrong or waiting, and graphs as text.
import type { HeldCertificates } from '@svc/protocol'
import { expect, test } from 'vitest'
import { summary } from '../src/admin/graph.tsx'
import { problemsOf, type State } from '../src/admin/overview/problems.ts'
import { lease, machine } from './support.ts'

const AT = Date.parse('2026-01-01T00:00:00.000Z')
const ens = {
  enabled: false,
  verified: false,
  provider: '',
  address: '',
  dnssec_state: '',
  ds_record: '',
  message: '',
  last_error: '',
}
const certificate: HeldCertificates = {
  host_kind: 'root',
  count: 1,
  names: ['relay.example'],
  not_after: '2026-03-01T00:00:00.000Z',
  last_error: '',
  last_error_at: '',
}
const fine: State = {
  leases: [lease('fine')],
  certificates: [certificate, { ...certificate, host_kind: 'site', count: 0, not_after: '' }],
  load: {
    leases: 1,
    ready_sessions: 1,
    carriers: 1,
    visitor_connections: 0,
    visitor_received_bytes: 0,
    visitor_sent_bytes: 0,
    machines: [machine('a:1'), machine('b:1', { state: 'gone' })],
    redis: 'up',
  },
  relay: { ens },
  at: AT,
}

test('nothing of a relay that is well', () => {
  expect(problemsOf(fine)).toEqual([])
})

test.each([
  [{ load: { ...fine.load, redis: 'down' as const } }, 'machines', 'Redis does not answer'],
  [
    { load: { ...fine.load, machines: [machine('a:1', { state: 'unreachable' })] } },
    'machines',
    '1 machine is unreachable',
  ],
  [
    {
      certificates: [
        { ...certificate, last_error: 'rate limited', last_error_at: '2025-12-31T23:00:00.000Z' },
      ],
    },
    'certificates',
    'The relay itself: the last order of a certificate failed 1 hr. ago',
  ],
  [
    { certificates: [{ ...certificate, not_after: '2026-01-05T00:00:00.000Z' }] },
    'certificates',
    'The relay itself: the certificate ends in 4 days and was not renewed',
  ],
  [{ relay: { ens: { ...ens, last_error: 'no' } } }, 'dns', 'The DNS records could not be set: no'],
])('%j is wrong', (change, section, text) => {
  expect(problemsOf({ ...fine, ...change })).toEqual([{ section, text, isWrong: true }])
})

test('sites that wait are no fault', () => {
  const leases = ['a', 'b'].map((name) => lease(name, { is_approved: false }))
  expect(problemsOf({ ...fine, leases })).toEqual([
    { section: 'access', text: '2 sites wait for your approval', isWrong: false },
  ])
})

test('a graph is said as its largest and its newest values', () => {
  const line = (label: string, ...values: (number | null)[]) => ({ label, color: '--accent', values })
  const time = new Date(2026, 0, 1, 13, 5).getTime() / 1000
  const lines = [line('to visitors', null, 30, 10), line('from visitors', 0, 0, 0)]
  const text = summary({ times: [time - 60, time, time + 60], lines, format: (value) => `${value} B` })
  expect(text).toBe('At most 30 B to visitors at 13:05, now 10 B. Nothing from visitors.')
  expect(summary({ times: [], lines: [line('x')], format: String })).toBe('Nothing x.')
})
