// The form of a tunnel: what of svc.toml it shows, and the change that it sends, which leaves everything else as it is.

import { describe, expect, test } from 'vitest'
import { changesOf, formOf, otherFields, settingsOf } from '../src/tunnels/tunnel-settings.ts'

const EMPTY = formOf()

describe('a new tunnel', () => {
  test('has the fields that were filled in, and a port as a number', () => {
    expect(settingsOf({ ...EMPTY, name: ' demo ', target: '3000' })).toEqual({ name: 'demo', http: 3000 })
    expect(
      settingsOf({
        ...EMPTY,
        name: 'files',
        kind: 'folder',
        target: '/srv/1',
        listing: true,
        listed: true,
        relay: 'https://a.example, https://b.example',
        tags: 'one  two',
        description: ' Files ',
      }),
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
    expect(settingsOf(form)).toEqual({ name: 'a', http: 1, host: 'rewrite' })
    expect(settingsOf({ ...form, kind: 'tcp' })).toEqual({ name: 'a', tcp: 1 })
  })

  test('takes a folder whose name is a number for a folder', () => {
    expect(settingsOf({ ...EMPTY, kind: 'folder', target: '3000' })).toEqual({ folder: '3000' })
  })
})

describe('a change', () => {
  const before = { name: 'demo', http: 3000, tcp: 22, tags: ['one'], listed: true, routes: { '/api': 3001 } }

  test('sends nothing when nothing was changed', () => {
    expect(changesOf(before, formOf(before))).toEqual({})
  })

  test('sends what differs alone, and null for what was emptied', () => {
    const form = {
      ...formOf(before),
      target: 'localhost:8080',
      tags: '',
      listed: false,
      relay: 'https://a.example',
    }
    expect(changesOf(before, form)).toEqual({
      http: 'localhost:8080',
      tags: null,
      listed: null,
      relay: 'https://a.example',
    })
  })

  test('puts another service in place of the one that was shown, and keeps further ones', () => {
    expect(changesOf(before, { ...formOf(before), kind: 'folder', target: './public' })).toEqual({
      http: null,
      folder: './public',
    })
    expect(otherFields(before)).toEqual(['tcp', 'routes'])
  })
})
