// `/.well-known/security.txt` (RFC 9116): at the relay's host alone, and only with a contact.

import { afterEach, expect, test } from 'vitest'
import { reportOf } from '../../src/cli/check/report.ts'
import { securityText } from '../../src/features/security-contact/security-text.ts'
import { readSettings } from '../../src/settings.ts'
import { ROOT_HOST, startTestRelay, type TestRelay } from '../support/relay.ts'

const PATH = '/.well-known/security.txt'
const SVC_URL = 'https://relay.example.com'

let relay: TestRelay | undefined
afterEach(async () => {
  await relay?.close()
  relay = undefined
})

test('names the contacts, its end and its place (§2.5)', () => {
  const contacts = readSettings({
    SVC_URL,
    SECURITY_CONTACT: 'security@example.com, https://example.com/report',
  })
  expect(securityText(contacts.securityContacts, SVC_URL, Date.UTC(2026, 10, 29, 4, 30))).toBe(
    `Contact: mailto:security@example.com
Contact: https://example.com/report
Expires: 2027-02-27T00:00:00Z
Canonical: ${SVC_URL}${PATH}
`,
  )
})

test.each(['', 'http://example.com', 'javascript:alert(1)', 'a b@example.com', 'me@a.example,', 'somebody'])(
  'SECURITY_CONTACT=%j is no contact',
  (SECURITY_CONTACT) => {
    const read = () => readSettings({ SVC_URL, SECURITY_CONTACT })
    // An empty variable counts as unset.
    if (SECURITY_CONTACT === '') expect(read().securityContacts).toEqual([])
    else expect(read).toThrow('SECURITY_CONTACT: ')
  },
)

test('is served at the relay, and to nobody who asks for the host of a site', async () => {
  relay = await startTestRelay({ SECURITY_CONTACT: 'security@example.com' })
  const { status, headers, text } = await relay.call('GET', PATH)
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8'])
  expect(text).toMatch(/^Contact: mailto:security@example\.com\nExpires: /)
  const ofSite = await relay.call('GET', PATH, undefined, { Host: `demo.${ROOT_HOST}` })
  expect(ofSite.status).toBeGreaterThanOrEqual(400)
  expect((await relay.call('POST', PATH)).status).toBe(405)
})

test('is not there without the setting', async () => {
  relay = await startTestRelay()
  expect((await relay.call('GET', PATH)).status).toBe(404)
})

test('svc-relay check names the contacts, or what is missing', async () => {
  const url = 'https://relay.localhost'
  const contactOf = async (env: Record<string, string>) =>
    (await reportOf({ SVC_URL: url, ...env })).findings.find(({ feature }) => feature === 'security contact')
  expect(await contactOf({ SECURITY_CONTACT: 'security@example.com' })).toMatchObject({
    status: 'ok',
    message: `${url}${PATH} names mailto:security@example.com.`,
  })
  expect(await contactOf({})).toMatchObject({ status: 'off' })
})
