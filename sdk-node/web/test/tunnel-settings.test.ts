// The form of a tunnel: what of svc.toml it shows, and the change that it sends, which leaves everything else as it is.

import { describe, expect, test } from 'vitest'
import { authorityOf, changesOf, formOf, otherFields, settingsOf } from '../src/tunnels/tunnel-settings.ts'

const EMPTY = formOf()

describe('a new tunnel', () => {
  test('has the fields that were filled in, and a port as a number', () => {
    expect(settingsOf({ ...EMPTY, name: ' demo ', target: '3000' }, 0)).toEqual({ name: 'demo', http: 3000 })
    expect(
      settingsOf(
        {
          ...EMPTY,
          name: 'files',
          kind: 'folder',
          target: '/srv/1',
          listing: true,
          listed: true,
          relay: 'https://a.example, https://b.example',
          tags: 'one  two',
          description: ' Files ',
        },
        0,
      ),
    ).toEqual({
      name: 'files',
      folder: '/srv/1',
      listing: true,
      listed: true,
      relay: ['https://a.example', 'https://b.example'],
      tags: ['one', 'two'],
      description: 'Files',
    })
  })

  test('has a host when it is an HTTP server', () => {
    const form = { ...EMPTY, name: 'a', target: '1', host: ' rewrite ' }
    expect(settingsOf(form, 0)).toEqual({ name: 'a', http: 1, host: 'rewrite' })
    expect(settingsOf({ ...form, kind: 'tcp' }, 0)).toEqual({ name: 'a', tcp: 1 })
  })

  test('has domains, and the agreement to the terms, when visitors of its kind can see their certificates', () => {
    const form = { ...EMPTY, target: '1', domains: ' a.example.org, b.example.org ', agreesTerms: true }
    const domains = ['a.example.org', 'b.example.org']
    expect(settingsOf(form, 0)).toEqual({ http: 1, domains, acme_agree_terms: true })
    expect(settingsOf({ ...form, kind: 'tls' }, 0)).toEqual({ tls: 1 })
    expect(settingsOf({ ...form, domains: ' ' }, 0)).toEqual({ http: 1 })
    const before = { http: 1, domains, acme_agree_terms: true }
    expect(changesOf(before, { ...formOf(before), domains: '' }, 0)).toEqual({
      domains: null,
      acme_agree_terms: null,
    })
    expect(otherFields(before)).toEqual([])
  })

  test('names the authority whose terms count, unless certificates are brought', () => {
    expect(authorityOf()).toBe('Let’s Encrypt')
    const shared = { acme_directory: 'https://acme.example/directory' }
    expect(authorityOf({}, shared)).toBe('acme.example')
    expect(authorityOf({ acme_directory: 'https://other.example/' }, shared)).toBe('other.example')
    expect(authorityOf({ domain_certificate: true }, shared)).toBeUndefined()
  })

  test('takes a folder whose name is a number for a folder', () => {
    expect(settingsOf({ ...EMPTY, kind: 'folder', target: '3000' }, 0)).toEqual({ folder: '3000' })
  })
})

describe('a change', () => {
  const before = { name: 'demo', http: 3000, tcp: 22, tags: ['one'], listed: true, routes: { '/api': 3001 } }

  test('sends nothing when nothing was changed', () => {
    expect(changesOf(before, formOf(before), 0)).toEqual({})
  })

  test('sends what differs alone, and null for what was emptied', () => {
    const form = {
      ...formOf(before),
      target: 'localhost:8080',
      tags: '',
      listed: false,
      relay: 'https://a.example',
    }
    expect(changesOf(before, form, 0)).toEqual({
      http: 'localhost:8080',
      tags: null,
      listed: null,
      relay: 'https://a.example',
    })
  })

  test('puts another service in place of the one that was shown, and keeps further ones', () => {
    expect(changesOf(before, { ...formOf(before), kind: 'folder', target: './public' }, 0)).toEqual({
      http: null,
      folder: './public',
    })
    expect(otherFields(before)).toEqual(['tcp', 'routes'])
  })

  test('takes out who may come in with the last service that has visitors with requests, and says nothing of it otherwise', () => {
    const guarded = {
      ...before,
      access: { password: true, oidc: 'https://a.example', oidc_scopes: ['email'] },
    }
    expect(changesOf(guarded, formOf(guarded), 0)).toEqual({})
    expect(changesOf(guarded, { ...formOf(guarded), kind: 'udp', target: '1' }, 0)).toMatchObject({
      access: null,
    })
    expect(changesOf(before, { ...formOf(before), kind: 'udp', target: '1' }, 0)).not.toHaveProperty('access')
    expect(otherFields(guarded)).toEqual(['tcp', 'routes', 'access.oidc_scopes'])
  })
})
