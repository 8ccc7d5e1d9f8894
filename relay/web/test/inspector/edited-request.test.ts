// The form that edits a request: only what was changed is sent, and masked secrets stay what they are.

import { describe, expect, test } from 'vitest'
import { editOf, formOf } from '../../src/inspector/edited-request.ts'
import type { EntryDetail, HeaderField } from '../../src/inspector/types.ts'
import { detail } from './support.ts'

const MASK = '••••••'

function entry(path: string, headers: HeaderField[]): EntryDetail {
  const plain = detail()
  return { ...plain, method: 'POST', path, request: { ...plain.request, headers } }
}

const shown = entry(`/hook?token=${MASK}&x=1`, [
  { name: 'Authorization', value: `Bearer ${MASK}`, masked: true },
  { name: 'Cookie', value: `a=${MASK}`, masked: true },
  { name: 'X-One', value: '1' },
])
const real = entry('/hook?token=t&x=1', [
  { name: 'Authorization', value: 'Bearer secret' },
  { name: 'Cookie', value: 'a=b' },
  { name: 'X-One', value: '1' },
])
const before = formOf(shown, 'body')

describe('an edited request', () => {
  test('without a change has none', () => {
    expect(editOf(before, before, real)).toEqual({})
  })

  test('has a new method, and a new text', () => {
    expect(editOf({ ...before, method: 'PUT', text: '' }, before, real)).toEqual({ method: 'PUT', text: '' })
  })

  test('keeps the secrets of the fields that were not touched', () => {
    const headers = before.headers.replace('X-One: 1', 'X-One: 2\n\nX-Two:  a:b ')
    expect(editOf({ ...before, headers }, before, real)).toEqual({
      headers: [
        { name: 'Authorization', value: 'Bearer secret' },
        { name: 'Cookie', value: 'a=b' },
        { name: 'X-One', value: '2' },
        { name: 'X-Two', value: 'a:b' },
      ],
    })
  })

  test('keeps the secrets of a path that was changed around them', () => {
    expect(editOf({ ...before, path: `/other?x=2&token=${MASK}` }, before, real)).toEqual({
      url: '/other?x=2&token=t',
    })
  })

  test('keeps each of several secrets of one name', () => {
    const twice = entry(`/hook?key=${MASK}&key=${MASK}`, [])
    const form = formOf(twice, undefined)
    const secrets = entry('/hook?key=a&key=b', [])
    expect(editOf({ ...form, path: `/new?key=${MASK}&key=${MASK}` }, form, secrets)).toEqual({
      url: '/new?key=a&key=b',
    })
  })

  test('never sends a mask for a secret', () => {
    const wrong = /masked secret/
    expect(() => editOf({ ...before, path: `/hook?other=${MASK}` }, before, real)).toThrow(wrong)
    const headers = `Authorization: Basic ${MASK}`
    expect(() => editOf({ ...before, headers }, before, real)).toThrow(wrong)
    const twice = `${before.headers}\nCookie: a=${MASK}`
    expect(() => editOf({ ...before, headers: twice }, before, real)).toThrow(wrong)
  })

  test('says which line is no field', () => {
    expect(() => editOf({ ...before, headers: 'what' }, before, real)).toThrow('“what”')
  })

  test('has no Content-Encoding once its content is a new text', () => {
    const coded = entry('/', [
      { name: 'Content-Encoding', value: 'gzip' },
      { name: 'X-One', value: '1' },
    ])
    const form = formOf(coded, 'old')
    expect(editOf({ ...form, text: 'new' }, form, coded)).toEqual({
      text: 'new',
      headers: [{ name: 'X-One', value: '1' }],
    })
    expect(editOf({ ...form, method: 'PUT' }, form, coded)).toEqual({ method: 'PUT' })
  })
})
