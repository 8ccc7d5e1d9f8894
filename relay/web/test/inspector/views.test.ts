// What the inspector makes of times, of bytes, and of the fragment of its address.

import { describe, expect, test } from 'vitest'
import { pictureUrl, textOf } from '../../src/inspector/bytes-text.ts'
import { chosenIn } from '../../src/inspector/chosen.ts'
import { spansOf } from '../../src/inspector/timing.ts'

describe('the bar of times', () => {
  test('has the site, the target and the answer', () => {
    expect(spansOf({ sent: 10, head: 80, end: 100 })).toEqual([
      { part: 'site', ms: 10, percent: 10 },
      { part: 'target', ms: 70, percent: 70 },
      { part: 'answer', ms: 20, percent: 20 },
    ])
  })

  test('has the handler in place of a target, and only what is over', () => {
    expect(spansOf({ head: 5 })).toEqual([{ part: 'handler', ms: 5, percent: 100 }])
    expect(spansOf({})).toEqual([])
  })

  test('shares the bar among parts that took no time', () => {
    expect(spansOf({ head: 0, end: 0 }).map(({ percent }) => percent)).toEqual([50, 50])
  })
})

describe('bytes', () => {
  const base64 = btoa('<svg onload="alert(1)">')

  test('a picture is shown when its type is one without scripts', () => {
    expect(pictureUrl({ type: 'image/png', base64, complete: true })).toBe(`data:image/png;base64,${base64}`)
    for (const type of ['image/svg+xml', 'text/html', 'image/png,<b>', undefined])
      expect(pictureUrl({ type, base64, complete: true })).toBeUndefined()
    expect(pictureUrl({ type: 'image/png', base64: 'a"b', complete: true })).toBeUndefined()
  })

  test('a text is one that is whole, and UTF-8', () => {
    expect(textOf({ base64, complete: true })).toBe('<svg onload="alert(1)">')
    expect(textOf({ base64, complete: false })).toBeUndefined()
    expect(textOf({ base64: '/w==', complete: true })).toBeUndefined()
  })
})

test('the fragment names one request, and nothing else', () => {
  expect(chosenIn('#requests/k3x9-17')).toBe('k3x9-17')
  for (const hash of ['', '#requests', '#requests/', '#ticket=a', '#requests/a"b', '#requests/a/b'])
    expect(chosenIn(hash)).toBeUndefined()
})
