// Who may come in, in the form of a tunnel: what it shows of svc.toml, the change that it sends, and which field an error is about.

import { describe, expect, test } from 'vitest'
import { ACCESS } from '../src/texts/form-texts.ts'
import {
  type AccessFields,
  accessChanges,
  accessFieldsOf,
  faultOf,
  missingIn,
  secretOf,
} from '../src/tunnels/access-settings.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
/** As the agent shows it. */
const FILE = {
  password: true,
  users: { alice: true, bob: true },
  bearer: true,
  oidc: 'https://a.example',
  oidc_client_id: 'demo',
  oidc_client_secret: true,
  oidc_allow: ['@example.org'],
  oidc_groups: ['staff', 'on call'],
  oidc_scopes: ['email'],
  allow_ip: ['192.0.2.0/24', '2001:db8::/32'],
  expires: '2h',
  max_visitors: 3,
  knock: true,
}
const form = accessFieldsOf(FILE)
const change = (fields: Partial<AccessFields>, before: typeof FILE | undefined = FILE) =>
  accessChanges(before, { ...accessFieldsOf(before), ...fields }, NOW)
const missing = (fields: Partial<AccessFields>) => missingIn({ ...form, ...fields }, ACCESS.missing)
const typed = (text: string) => ({ ...secretOf(true), change: 'replace' as const, text })
const [alice, bob] = form.users as [AccessFields['users'][number], AccessFields['users'][number]]

describe('the form', () => {
  test('shows of a secret only that it is set', () => {
    expect(form).toMatchObject({
      password: { isSet: true, change: 'keep', text: '' },
      oidc: 'https://a.example',
      oidcSecret: { isSet: true, text: '' },
      oidcGroups: 'staff, on call',
      users: [
        { name: 'alice', isSet: true, text: '' },
        { name: 'bob', isSet: true, text: '' },
      ],
      allowIp: '192.0.2.0/24 2001:db8::/32',
      maxVisitors: '3',
      end: 'kept',
      knock: true,
      once: false,
    })
    expect(accessFieldsOf(undefined)).toMatchObject({ password: { isSet: false }, users: [], end: 'never' })
  })

  test('says what is missing, at its field', () => {
    const added = { id: 5, name: 'carol', ...secretOf(false), text: 'a' }
    expect(missing({})).toBeUndefined()
    expect(missing({ users: [alice, added] })).toBeUndefined()
    expect(missing({ password: typed('') })?.field).toBe('password')
    expect(missing({ users: [alice, { ...added, text: '' }] })?.field).toBe('users-5')
    expect(missing({ users: [alice, { ...added, name: ' ' }] })?.field).toBe('users-5-name')
    expect(missing({ users: [alice, { ...added, name: 'alice ' }] })?.text).toBe(ACCESS.missing.twice)
    expect(missing({ end: 'at' })?.field).toBe('expires')
    expect(missing({ oidc: 'accounts.example' })?.field).toBe('oidc')
    expect(missing({ oidcClientId: '' })?.field).toBe('oidc_client_id')
    expect(missing({ oidcSecret: typed('') })?.field).toBe('oidc_client_secret')
    expect(missing({ oidcAllow: '' })).toBeUndefined()
    expect(missing({ oidcAllow: '', oidcGroups: ' ,' })?.field).toBe('oidc_allow')
    expect(missing({ oidc: '', oidcClientId: '' })).toBeUndefined()
  })

  test('shows an error without the name of the table', () => {
    expect(faultOf('access.rate must be like 10/s')).toEqual({
      field: 'rate',
      text: 'rate must be like 10/s',
    })
  })

  test.each([
    ['access.max_visitors must be a whole number above 0', 'max_visitors'],
    ['access.users: "a:b" is no user name', 'users'],
    ['/home/me/svc.toml: tunnel 1: access.rate', undefined],
    ['access.unknown is wrong', undefined],
  ])('an error "%s" is about the field %s', (message, field) => {
    expect(faultOf(message)?.field).toBe(field)
  })
})

describe('a change', () => {
  test('sends nothing when nothing was changed', () => {
    expect(change({})).toBeUndefined()
    expect(accessChanges(undefined, accessFieldsOf(undefined), NOW)).toBeUndefined()
  })

  test('replaces and removes a secret, and keeps the others', () => {
    expect(change({ password: typed(' new ') })).toEqual({ password: ' new ' })
    expect(change({ password: { ...form.password, change: 'remove' } })).toEqual({ password: null })
    const users = [
      { ...alice, change: 'remove' as const },
      { ...bob, ...typed('his') },
      { id: 7, name: ' carol ', ...secretOf(false), text: 'hers' },
    ]
    expect(change({ users })).toEqual({ users: { alice: null, bob: 'his', carol: 'hers' } })
  })

  test('has an issuer of OpenID Connect with what belongs to it, and removes all of it', () => {
    const fields = {
      oidc: ' https://id.example ',
      oidcClientId: ' demo ',
      oidcSecret: { ...secretOf(false), text: 'secret' },
      oidcAllow: '@example.org, bob@example.com',
      oidcGroups: ' staff,on call, ',
    }
    const added = {
      oidc: 'https://id.example',
      oidc_client_id: 'demo',
      oidc_client_secret: 'secret',
      oidc_allow: ['@example.org', 'bob@example.com'],
      oidc_groups: ['staff', 'on call'],
    }
    const ofNew = (given: Partial<AccessFields>) =>
      accessChanges(undefined, { ...accessFieldsOf(undefined), ...given }, NOW)
    expect(ofNew(fields)).toEqual(added)
    // Without the issuer, the rest would be an error.
    expect(ofNew({ ...fields, oidc: ' ' })).toBeUndefined()
    const none = Object.fromEntries([...Object.keys(added), 'oidc_scopes'].map((field) => [field, null]))
    expect(change({ oidc: '' })).toEqual(none)
    expect(change({ oidcAllow: '', oidcSecret: typed('new') })).toEqual({
      oidc_allow: null,
      oidc_client_secret: 'new',
    })
  })

  test('writes an end as a time', () => {
    expect(change({ end: '8' })).toEqual({ expires: '2026-01-01T08:00:00.000Z' })
    expect(change({ end: 'never' })).toEqual({ expires: null })
    const local = '2030-05-06T07:08'
    expect(change({ end: 'at', endAt: local })).toEqual({ expires: new Date(local).toISOString() })
  })

  test('has the fields of a new tunnel, and null for what was emptied', () => {
    const fields = {
      password: { ...secretOf(false), text: 'open sesame' },
      knock: true,
      allowIp: '192.0.2.1, 192.0.2.2',
      rate: ' 10/s ',
      maxVisitors: ' 5 ',
      once: true,
    }
    expect(accessChanges(undefined, { ...accessFieldsOf(undefined), ...fields }, NOW)).toEqual({
      password: 'open sesame',
      knock: true,
      allow_ip: ['192.0.2.1', '192.0.2.2'],
      rate: '10/s',
      max_visitors: 5,
      once: true,
    })
    expect(change({ allowIp: ' ', knock: false, maxVisitors: 'many' })).toEqual({
      allow_ip: null,
      knock: null,
      max_visitors: 'many',
    })
  })
})
