// The statement with which a site says that it is at a relay: what it covers, and what is refused.

import {
  canonicalLabel,
  registrationPurpose,
  SITE_STATEMENT_MAX_MS,
  SITE_STATEMENT_TOLERANCE_MS,
  type SiteStatement,
  siteStatementText,
  siweMessage,
} from '@svc/protocol'
import { describe, expect, test, vi } from 'vitest'
import { recoverSigner } from '../../src/core/auth/ethereum-signature.ts'
import { isStatedBySite } from '../../src/features/discovery/site-statements.ts'
import { newAccount } from '../support/relay.ts'
import { makeStatement, type StatementTerms } from '../support/site-statement.ts'

const NOW = Date.parse('2026-11-27T12:00:00.000Z')
const ORIGIN = 'https://relay.example'
const owner = newAccount()
const other = newAccount()
const labelOf = ({ address }: typeof owner, name = 'demo'): string =>
  canonicalLabel(name, address.toLowerCase())
const label = labelOf(owner)

const stated = (terms: Partial<StatementTerms> = {}): Promise<SiteStatement> =>
  makeStatement({
    by: owner,
    canonicalLabel: label,
    origin: ORIGIN,
    issuedAt: NOW,
    expiresAt: NOW + 240_000,
    ...terms,
  })

const isBelieved = (statement: unknown): Promise<boolean> =>
  isStatedBySite(statement, { canonicalLabel: label, origin: ORIGIN }, NOW, async (...signed) =>
    recoverSigner(...signed),
  )

test('the statement of the site for that relay is believed, as long as it holds', async () => {
  expect(await isBelieved(await stated())).toBe(true)
  expect(await isBelieved(await stated({ issuedAt: NOW - 239_999, expiresAt: NOW + 1 }))).toBe(true)
  // The clocks of both differ.
  expect(await isBelieved(await stated({ issuedAt: NOW + SITE_STATEMENT_TOLERANCE_MS }))).toBe(true)
  expect(await isBelieved(await stated({ expiresAt: NOW + SITE_STATEMENT_MAX_MS }))).toBe(true)
})

test.each<[string, Partial<StatementTerms>]>([
  ['signed by another identity', { by: other }],
  ['of another site of the same identity', { canonicalLabel: labelOf(owner, 'other') }],
  ['of another identity', { by: other, canonicalLabel: labelOf(other) }],
  ['for another relay', { origin: 'https://liar.example' }],
  ['for another port of the relay', { origin: `${ORIGIN}:8443` }],
  ['that is over', { issuedAt: NOW - 240_000, expiresAt: NOW }],
  ['of a time to come', { issuedAt: NOW + SITE_STATEMENT_TOLERANCE_MS + 1 }],
  ['for too long', { expiresAt: NOW + SITE_STATEMENT_MAX_MS + 1 }],
])('a statement %s is not (protocol §16.1.2)', async (_what, terms) => {
  expect(await isBelieved(await stated(terms))).toBe(false)
})

test('a statement with a later end than was signed is not', async () => {
  expect(await isBelieved({ ...(await stated()), expires_at: '2026-11-27T13:00:00.000Z' })).toBe(false)
})

describe('what has another form', () => {
  test.each<[string, object]>([
    ['no signature', { signature: undefined }],
    ['a short signature', { signature: '0x00' }],
    ['a time of another form', { issued_at: 'now' }],
    ['a date that does not exist', { expires_at: '2026-13-40T25:00:00.000Z' }],
    ['another line in a time', { issued_at: `2026-11-27T12:00:00.000Z\nRelay: ${ORIGIN}` }],
  ])('%s: nobody looks who signed', async (_what, fields) => {
    await expectUnread({ ...(await stated()), ...fields })
  })

  test.each([undefined, null, 'yes', []])('%j: nobody looks who signed', expectUnread)

  async function expectUnread(value: unknown): Promise<void> {
    const recover = vi.fn()
    expect(await isStatedBySite(value, { canonicalLabel: label, origin: ORIGIN }, NOW, recover)).toBe(false)
    expect(recover).not.toHaveBeenCalled()
  }
})

test('a sign-in is no statement, and a statement no sign-in', async () => {
  const { issued_at, expires_at, signature } = await stated()
  const signIn = siweMessage({
    ...registrationPurpose('relay.example'),
    address: owner.address,
    requestId: `rch_${'0'.repeat(16)}`,
    nonce: '0123456789abcdef',
    issuedAt: issued_at,
    expirationTime: expires_at,
  })
  const text = siteStatementText(label, ORIGIN, { issued_at, expires_at })
  expect(text.split('\n')[0]).not.toMatch(/wants you to sign in with your Ethereum account:$/)
  const signed = await owner.signMessage({ message: signIn })
  expect(await isBelieved({ issued_at, expires_at, signature: signed })).toBe(false)
  expect(recoverSigner(signIn, signature)).not.toBe(owner.address.toLowerCase())
  expect(recoverSigner(text, signature)).toBe(owner.address.toLowerCase())
})
