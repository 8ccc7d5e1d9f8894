// The filter of the inspector, as people type it.

import { describe, expect, test } from 'vitest'
import { filterOf } from '../../src/inspector/filter-text.ts'

describe('the filter', () => {
  test('nothing asks for everything', () => {
    expect(filterOf('  ')).toEqual({})
  })

  test('a method, a status and a path are known by their form, and all others are one text', () => {
    expect(filterOf('POST 5xx /hook order 42')).toEqual({
      method: 'POST',
      status: '5xx',
      path: '/hook',
      text: 'order 42',
    })
  })

  test('several methods or statuses are alternatives', () => {
    expect(filterOf('GET HEAD 404 500-503 failed')).toEqual({
      method: 'GET,HEAD',
      status: '404,500-503,failed',
    })
  })

  test('a small word and a number that is no status are texts', () => {
    expect(filterOf('get 42 600')).toEqual({ text: 'get 42 600' })
  })

  test('a name says what a word is, and quotes hold words together', () => {
    expect(filterOf('text:404 method:purge path:"a b" "POST /"')).toEqual({
      method: 'PURGE',
      path: 'a b',
      text: '404 POST /',
    })
  })

  test('a quote that is not closed yet is a text', () => {
    expect(filterOf('"abc')).toEqual({ text: '"abc' })
  })
})
