// The columns of the matrix: what each asks of a client, and what has to be seen on our side.

import { strictEqual as equal, ok } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { atDepth } from '../../../tools/test-depth.ts'
import type { Limits } from '../../src/index.ts'
import type { Group, Outcome, Suite, Wishes } from './client.ts'
import type { ColumnName } from './column-name.ts'
import type { KeyType } from './credentials.ts'
import { sha256 } from './http.ts'
import type { Cut } from './proxy.ts'
import { EXPORTER_LABEL, type Served } from './site.ts'

export interface Column {
  name: ColumnName
  /** What a ✓ means. */
  title: string
  wishes?: Wishes
  upload?: Uint8Array
  /** Of the response's body; a few bytes without it. */
  responseBytes?: number
  server?: { key?: KeyType; limits?: Partial<Limits> }
  cut?: Cut
  /** The client goes away while the signature is awaited: there is no exchange. */
  leaves?: true
  check?(connections: Served[], outcome: Outcome): void
}

/** Both ways. */
const LARGE_MIB: number = atDepth(8, 2)
const LARGE_BYTES: number = LARGE_MIB * 1024 * 1024
/** Several KeyUpdates, where a key is good for a few records. */
const KEY_UPDATE_BYTES: number = 512 * 1024

const SUITES: Record<Suite, [ColumnName, number]> = {
  'AES-128-GCM': ['AES128', 0x1301],
  'AES-256-GCM': ['AES256', 0x1302],
  'CHACHA20-POLY1305': ['CHACHA', 0x1303],
}
const GROUPS: Record<Group, [ColumnName, number]> = {
  X25519MLKEM768: ['MLKEM', 0x11ec],
  X25519: ['X25519', 0x001d],
  'P-256': ['P-256', 0x0017],
  'P-384': ['P-384', 0x0018],
}

const last = (connections: Served[]): Served => connections.at(-1)!

const suites: Column[] = Object.entries(SUITES).map(([suite, [name, code]]) => ({
  name,
  title: `cipher suite ${suite} (RFC 8446 §B.4)`,
  wishes: { suite: suite as Suite },
  check: (connections) => equal(last(connections).info.cipherSuite, code),
}))

const groups: Column[] = Object.entries(GROUPS).map(([group, [name, code]]) => ({
  name,
  title: `key exchange with ${group} (§4.2.7)`,
  wishes: { group: group as Group },
  check: (connections) => {
    equal(last(connections).info.group, code)
    ok(!last(connections).retried, 'there was a HelloRetryRequest')
  },
}))

export const COLUMNS: readonly Column[] = [
  ...suites,
  ...groups,
  { name: 'RSA', title: 'an RSA certificate, RSA-PSS signature (§4.2.3)', server: { key: 'rsa' } },
  { name: 'Ed25519', title: 'an Ed25519 certificate', server: { key: 'ed25519' } },
  {
    name: 'HRR',
    title: 'HelloRetryRequest: only a share of a group that we do not have (§4.1.4)',
    wishes: { retry: true },
    check: (connections) => ok(last(connections).retried, 'there was no HelloRetryRequest'),
  },
  {
    name: 'resume',
    title: 'a second connection resumes with the ticket of the first (§2.2)',
    wishes: { resume: true },
    check: (connections) => ok(last(connections).info.resumed, 'it was a full handshake'),
  },
  {
    name: 'KU in',
    title: "the client's KeyUpdate, and ours when it asks (§4.6.3)",
    wishes: { keyUpdate: true },
    upload: new Uint8Array(KEY_UPDATE_BYTES),
    check: (connections) => ok(last(connections).keyUpdates > 0, 'there was no KeyUpdate'),
  },
  {
    name: 'KU out',
    title: 'our KeyUpdates in the middle of a response (§5.5)',
    responseBytes: KEY_UPDATE_BYTES,
    server: { limits: { recordsPerKey: 4 } },
    check: (connections) => ok(last(connections).keyUpdates > 2, 'there were not enough KeyUpdates'),
  },
  {
    name: 'padding',
    title: 'records that the client padded (§5.4)',
    wishes: { padding: true },
    check: (connections) => ok(last(connections).padded > 0, 'no record was padded'),
  },
  { name: 'records', title: 'a ClientHello cut into records of 7 bytes (§5.1)', cut: 'records' },
  { name: 'drip', title: 'a client whose bytes come one at a time', cut: 'drip' },
  {
    name: 'export',
    title: 'both sides export the same keying material (§7.5)',
    wishes: { exporter: EXPORTER_LABEL },
    check: (connections, { log }) =>
      ok(
        log.replace(/[\s:]/g, '').toLowerCase().includes(last(connections).exported),
        `it exported something else\n${log}`,
      ),
  },
  {
    name: 'compress',
    title: 'a client that asks gets the certificate compressed (RFC 8879)',
    check: (connections) => ok(last(connections).compressed, 'the certificate was not compressed'),
  },
  {
    name: 'cert',
    title: 'a client that has a certificate is not asked for it',
    wishes: { certificate: true },
  },
  {
    name: 'large',
    title: `${LARGE_MIB} MiB each way, compared by SHA-256`,
    upload: new Uint8Array(randomBytes(LARGE_BYTES)),
    responseBytes: LARGE_BYTES,
  },
  {
    name: 'leave',
    title: 'a client that is killed in the handshake: we notice, and the signer is told',
    leaves: true,
  },
]

/** What holds in every column. */
export function checkExchange(
  column: Column,
  connections: Served[],
  outcome: Outcome,
  resource: Uint8Array,
): void {
  equal(outcome.sha256, sha256(resource), `the client got something else\n${outcome.log}`)
  const { request, keyUpdates } = last(connections)
  equal(sha256(request.body), sha256(column.upload ?? new Uint8Array()), 'the request came damaged')
  if (column.name !== 'KU in' && column.name !== 'KU out') equal(keyUpdates, 0, 'an uncalled-for KeyUpdate')
  column.check?.(connections, outcome)
}
