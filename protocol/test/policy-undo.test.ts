// Updates that revert changes of the policy, and the difference of two settings.

import { expect, test } from 'vitest'
import {
  type PolicyDecisionsResponse,
  type PolicySettings,
  settingChanges,
  undoDecisions,
  undoPolicyUpdate,
} from '../src/index.ts'

const KEY = `demo:0x${'1'.repeat(40)}`
const OTHER = `other:0x${'2'.repeat(40)}`
const BEFORE: PolicyDecisionsResponse = {
  approved: [KEY],
  denied: [OTHER],
  banned: [KEY],
  banned_ips: [],
  banned_relays: [],
  banned_domains: [],
  bps: { [KEY]: 5 },
  ban_details: {
    banned: {
      [KEY]: { reason: 'spam', until: '2030-01-01T00:00:00Z', at: '2029-01-01T00:00:00Z', by: 'ana' },
    },
    banned_ips: {},
    banned_relays: {},
    banned_domains: {},
  },
}
const SETTINGS: PolicySettings = {
  approval_mode: 'auto',
  landing_page_enabled: true,
  udp: { enabled: false, max_leases: 0 },
  tcp_port: { enabled: false, max_leases: 0 },
  reserved_names: ['www', 'mail'],
}

test('what ends a ban is reverted with the reason and the end of the ban', () => {
  expect(undoPolicyUpdate({ identity_key: KEY, is_banned: false }, BEFORE)).toEqual({
    identity_key: KEY,
    is_banned: true,
    reason: 'spam',
    until: '2030-01-01T00:00:00Z',
  })
})

test('a ban where none was is reverted without a reason', () => {
  const ban = { identity_key: OTHER, is_banned: true, reason: 'spam' }
  expect(undoPolicyUpdate(ban, BEFORE)).toEqual({ identity_key: OTHER, is_banned: false })
})

test('many decisions are reverted by as many', () => {
  const made = {
    decisions: [
      { identity_key: KEY, is_denied: true },
      { identity_key: OTHER, is_approved: true, is_denied: false },
    ],
  }
  expect(undoDecisions(made, BEFORE)).toEqual({
    decisions: [
      { identity_key: KEY, is_denied: false, is_approved: true },
      { identity_key: OTHER, is_denied: true, is_approved: false },
    ],
  })
})

test('a change of the settings is told field by field', () => {
  const after: PolicySettings = {
    ...SETTINGS,
    approval_mode: 'manual',
    udp: { enabled: true, max_leases: 0 },
    reserved_names: ['www', 'shop'],
  }
  expect(settingChanges(SETTINGS, after)).toEqual([
    { field: 'approval_mode', from: 'auto', to: 'manual' },
    { field: 'udp.enabled', from: false, to: true },
    { field: 'reserved_names', added: ['shop'], removed: ['mail'] },
  ])
})

test('reserved names that an update leaves out are as they were', () => {
  expect(settingChanges(SETTINGS, { ...SETTINGS, reserved_names: undefined })).toEqual([])
})
