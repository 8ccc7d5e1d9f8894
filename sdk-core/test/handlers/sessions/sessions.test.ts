// The memory of sign-outs is bounded, and forgets on the safe side.

import { expect, test } from 'vitest'
import { SIGN_OUTS_MAX } from '../../../src/handlers/sessions/limits.ts'
import { macWith } from '../../../src/handlers/sessions/mac.ts'
import { Sessions } from '../../../src/handlers/sessions/sessions.ts'

test('of more sign-outs than are remembered, none is undone', () => {
  const address = `0x${'1'.repeat(40)}`
  const other = `0x${'2'.repeat(40)}`
  const sessions = new Sessions(macWith(new Uint8Array(32)), {
    cookie: '__Host-test',
    endOf: () => Number.POSITIVE_INFINITY,
  })
  const now = Date.now()
  const session = (at: number) => ({
    id: `id ${at}`,
    subject: address,
    issuedAt: now - 60_000 + at,
    expiresAt: now + 60_000,
  })
  for (let at = 0; at <= SIGN_OUTS_MAX; at++) sessions.end(session(at))
  // a subject that signs out all the time signs out nobody else
  expect(sessions.isOpen({ ...session(0), subject: other })).toBe(true)
  expect(sessions.isOpen(session(0))).toBe(false)
  expect(sessions.isOpen(session(1))).toBe(false)
  expect(sessions.isOpen(session(SIGN_OUTS_MAX))).toBe(false)
  expect(sessions.isOpen(session(SIGN_OUTS_MAX + 1))).toBe(true)
})
