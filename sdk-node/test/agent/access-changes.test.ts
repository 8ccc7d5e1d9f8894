// The table `access` of a tunnel in the agent's API: which secrets come out, what is stored of a password, and which changes are refused.

import { scryptSync } from 'node:crypto'
import { SCRYPT } from '@svc/sdk-core/access'
import { describe, expect, it } from 'vitest'
import { storableFields, withoutSecrets, withWholeAccess } from '../../src/cli/agent/access-changes.ts'
import type { TomlTable } from '../../src/cli/config/toml.ts'

const TOKEN = 'a-token-of-some-length'

/** Returns whether a text is what `svc hash-password` makes of a password. */
function isHashOf(stored: unknown, password: string): boolean {
  const [kind, salt = '', hash] = String(stored).split(':')
  const { dkLen, ...cost } = SCRYPT
  const bytes = scryptSync(password, Buffer.from(salt, 'base64url'), dkLen, { ...cost, maxmem: 2 ** 25 })
  return kind === 'scrypt' && bytes.toString('base64url') === hash
}

describe('what the API shows', () => {
  it('has true in place of each secret, wherever it is', () => {
    const access = {
      password: 'open sesame',
      bearer: `env:TOKEN`,
      oidc_client_secret: 'hidden',
      users: { alice: 'file:alice.txt', __proto__: null, bob: 'hers' },
      knock: true,
      allow_ip: ['192.0.2.0/24'],
    }
    const shown = withoutSecrets({ name: 'demo', http: 3000, invitation: 'svc-invitation-a', access })
    expect(shown).toEqual({
      name: 'demo',
      http: 3000,
      invitation: true,
      access: {
        password: true,
        bearer: true,
        oidc_client_secret: true,
        users: { alice: true, bob: true },
        knock: true,
        allow_ip: ['192.0.2.0/24'],
      },
    })
  })
})

it('shows no secret of webhooks, no password of a proxy, and no key of an authority', () => {
  const webhooks = { github: 'hush', hmac: ['env:OLD', 'hush'] }
  const shown = withoutSecrets({ webhooks, proxy: 'http://me:hush@proxy.example', acme_eab: 'kid-1=hush' })
  expect(shown).toEqual({ webhooks: { github: true, hmac: true }, proxy: true, acme_eab: true })
  expect(withoutSecrets({ proxy: 'http://proxy.example' })).toEqual({ proxy: 'http://proxy.example' })
})

describe('what the file gets', () => {
  it('is a hash of each password, and what is elsewhere as it is', async () => {
    const stored = (await storableFields({
      http: 1,
      access: {
        password: 'open sesame',
        users: { alice: 'hers', bob: 'env:BOB', carol: null, dave: '-' },
        bearer: TOKEN,
      },
    })) as { http: number; access: { password: string; users: Record<string, unknown>; bearer: string } }
    const { password, users, bearer } = stored.access
    expect(isHashOf(password, 'open sesame')).toBe(true)
    expect(isHashOf(users.alice, 'hers')).toBe(true)
    expect(isHashOf(users.dave, '-')).toBe(true)
    expect([users.bob, users.carol, bearer, stored.http]).toEqual(['env:BOB', null, TOKEN, 1])
    expect(await storableFields({ access: { password } })).toEqual({ access: { password } })
  })

  it.each<[string, object, string]>([
    ['a rate', { rate: 'fast' }, 'access.rate must be like 10/s'],
    ['a count', { max_visitors: 0 }, 'access.max_visitors must be'],
    ['a network', { allow_ip: ['here'] }, 'access.allow_ip: here is no address'],
    ['no network', { deny_ip: [] }, 'access.deny_ip must be a list'],
    ['an end', { expires: 'soon' }, 'access.expires must be a time'],
    ['an end that has passed', { expires: '2020-01-01' }, 'access.expires has passed'],
    ['a token', { bearer: 'short' }, 'access.bearer has to have 16'],
    ['a password', { password: 'zwei\nlines' }, 'access.password must be a text'],
    ['a hash', { password: 'scrypt:a' }, 'access.password is no hash'],
    ['a user', { users: { 'a:b': 'c' } }, 'access.users: "a:b" is no user name'],
    ['a user whose password is elsewhere', { users: { '': 'file:a' } }, 'access.users: "" is no user name'],
  ])('is refused with %s that is wrong', async (_, access, message) => {
    const refused = storableFields({ access })
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message),
    })
    await expect(refused).rejects.not.toThrow(/zwei|scrypt:a\b|short/)
  })

  it('is left to the check of the whole file where it is of a wrong type', async () => {
    const changes = { access: { knock: false, oidc: 'https://a.example', unknown: 1 } }
    expect(await storableFields(changes)).toEqual(changes)
    expect(await storableFields({ access: null, http: 1 })).toEqual({ access: null, http: 1 })
    expect(await storableFields({ access: 'a' })).toEqual({ access: 'a' })
  })
})

describe('a change', () => {
  const before: TomlTable = { access: { password: 'scrypt:…', users: { alice: 'a', bob: 'b' }, oidc: 'c' } }
  const accessAfter = (access: object | null, of: TomlTable | undefined = before) =>
    withWholeAccess(of, { access }).access

  it('keeps what it does not name', () => {
    expect(accessAfter({ knock: true, users: { alice: null, carol: 'd' } })).toEqual({
      password: 'scrypt:…',
      users: { bob: 'b', carol: 'd' },
      oidc: 'c',
      knock: true,
    })
    expect(accessAfter({ password: null, users: { alice: null, bob: null } })).toEqual({ oidc: 'c' })
    expect(accessAfter({ users: null })).toEqual({ password: 'scrypt:…', oidc: 'c' })
    expect(accessAfter({ users: { alice: 'a' } }, {})).toEqual({ users: { alice: 'a' } })
    expect(accessAfter({ users: { alice: null }, knock: true }, {})).toEqual({ knock: true })
    expect(withWholeAccess(before, { http: 1 })).toEqual({ http: 1 })
  })

  it('takes the table out with its last field, or whole', () => {
    expect(accessAfter({ password: null, oidc: null, users: null })).toBeNull()
    expect(accessAfter(null)).toBeNull()
    expect(accessAfter({ users: { alice: null } }, { access: { users: { alice: 'a' } } })).toBeNull()
  })
})
