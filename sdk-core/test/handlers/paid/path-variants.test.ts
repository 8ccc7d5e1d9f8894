// No spelling of a path goes around its price: each server's way to read a path is tried against each way to write it.

import { describe, expect, test } from 'vitest'
import fc from '../../../../tools/fast-check.ts'
import { leadsTo } from '../../../../tools/lenient-backend.ts'
import { atDepth } from '../../../../tools/test-depth.ts'
import { parsePrices } from '../../../src/handlers/paid/options.ts'
import { smallestUnits } from '../../../src/payer/amount.ts'

/** Seed of the targets that `npm test` tries. */

const PAY_TO = `0x${'5e'.repeat(32)}`

function pricesOf(...paths: string[]) {
  const routes = paths.map((path, at) => ({ path, amount: `0.0${at + 1}` }))
  return parsePrices({ payTo: PAY_TO, network: 'sui:testnet', routes })
}

/** @returns the amount that a visitor would pay who requests this target */
function priceOf(prices: ReturnType<typeof pricesOf>, target: string): string {
  const url = new URL(`https://a.example${target}`)
  const found = prices.find({ method: 'GET', url, fields: [] })
  return typeof found === 'string' ? found : found.amount
}

describe('one path in other words', () => {
  const prices = pricesOf('/shop/paid', '/caf\u00e9')

  test.each([
    '/shop/paid',
    '/shop/paid/',
    '/shop/paid/below',
    '/shop/paid?x=/free',
    '//shop//paid',
    '/./shop/./paid',
    '/x/../shop/paid',
    '/shop/%70aid',
    '/shop/%70%61%69%64',
    '/%73hop%2fpaid',
    '/%73hop%2Fpaid',
    '/shop%5cpaid',
    '/shop\\paid',
    '/shop;a=b/paid;c',
    '/shop/paid;/x',
    '/shop/x/..;/paid',
    '/shop/x/..;a=b/paid',
    '/shop/%2e/paid',
    '/x/%2e%2e/shop/paid',
    '/x/..%2fshop/paid',
    '/x%2f..%2fshop%2fpaid',
    '/x/%252e%252e/shop/paid',
    '/shop/%2570aid',
    '/shop/%25252525252570aid',
    '/SHOP/Paid',
    '/shop/paid.',
    '/shop/paid%20',
    '/shop/paid%00.txt',
    '/shop/paid%3f',
    '/shop/paid%23x',
    '/shop/paid/%252e%252e/free',
    '/shop/paid/..%2ffree',
    '/shop/%ef%bd%90aid',
    '/shop//%252e%252e/shop/paid',
    '/shop/x//%252e%252e/%252e%252e/paid',
    // Windows and IIS
    '/shop/paid::$DATA',
    '/shop::$INDEX_ALLOCATION/paid',
    '/shop/paid:$i30:$INDEX_ALLOCATION/x',
    '/shop/%u0070aid',
    '/shop%u002fpaid',
    '/shop%u2215/../shop/paid',
    '/shop/%25u0070aid',
    '/shop/paid%20.%20',
    '/shop/%09paid%0a',
    '/shop/x/..%20/paid',
    '/shop/pa~1',
    // overlong UTF-8, and bytes that old decoders look at in part
    '/shop/%c1%b0aid',
    '/shop%c0%afpaid',
    '/shop/x%c0%af%c0%ae%c0%ae%c0%afpaid',
    '/shop/%e0%81%b0aid',
    '/shop/%f0%80%81%b0aid',
    // invisible characters, accents, and letters of which the upper case is another one's
    '/shop/pa%E2%80%8Bid',
    '/%EF%BB%BFshop/paid%E2%81%A0',
    '/shop/pa%C2%ADid',
    '/shop/p%C3%A0id',
    '/shop/pa%CC%80id',
    '/shop/pa%C4%B1d',
    '/shop/pa%C4%B0d',
    '/%C5%BFhop/paid',
    '/shop%EF%BC%8Fpaid',
    '/shop/x/%EF%BC%8E%EF%BC%8E/paid',
    // scripts that get the rest
    '/index.php/shop/paid',
    '/cgi-bin/app.cgi/shop/paid',
    '/shop/x.php/..%2f../shop/paid',
  ])('%s has the price', (target) => expect(priceOf(prices, target)).toBe('0.01'))

  test.each(['/caf%E9', '/cafe', '/caf\u00e9', '/caf%C3%A9', '/caf%c3%a9/x', '/CAF%C3%89', '/cafe%CC%81'])(
    '%s, too',
    (target) => expect(priceOf(prices, target)).toBe('0.02'),
  )

  test.each([
    '/',
    '/shop',
    '/shop/',
    '/shop/paids',
    '/shop/pai',
    '/shop/free',
    '/shop/paid/../free',
    '/paid',
    '/x?/shop/paid',
    '/shop/a.php',
    '/shop/free:paid',
    '/shop/fr~1',
  ])('%s is free', (target) => expect(priceOf(prices, target)).toBe('free'))

  test('a path that may mean more than anybody means is refused', () => {
    expect(priceOf(prices, `/shop/%${'25'.repeat(200)}70aid`)).toBe('unclear')
  })

  test('a path that may mean two things costs what the dearer one does', () => {
    const dear = pricesOf('/a', '/a/dear')
    expect(priceOf(dear, '/a/x')).toBe('0.01')
    expect(priceOf(dear, '/a/x%2f..%2fdear')).toBe('0.02')
    expect(priceOf(dear, '/a/dear%2f..%2fx')).toBe('0.02')
    expect(priceOf(pricesOf('/'), '/anything%2f..')).toBe('0.01')
  })

  test('a long path is judged in a moment', () => {
    for (const part of ['/%252e%252e', '/a;b', '//', '%2f', '/%25'])
      expect(priceOf(prices, `/shop/paid${part.repeat(10_000)}`)).toMatch(/0\.01|unclear/)
  })
})

test('whatever a server makes of a path, it is paid when it leads to the paid one', () => {
  const prices = pricesOf('/a/paid')
  const part = fc.constantFrom(
    ...[
      'a',
      'paid',
      'PAID',
      '%70aid',
      '%2570aid',
      'b',
      '/',
      '//',
      '%2f',
      '%5c',
      '\\',
      '.',
      '..',
      '%2e',
      '%2e%2e',
      '%252e%252e',
    ],
    ...[
      ';',
      ';x=/',
      '%3b',
      '%00',
      '%20',
      '%',
      '%2',
      '%25',
      '?',
      '/a/',
      '/paid',
      '..;',
      '%2F..%2F',
      '%c3%a9',
      '%ff',
    ],
    ...[
      '%u0070aid',
      '%u002f',
      '%c0%af',
      '%c0%ae',
      '%c1%b0aid',
      '::$DATA',
      ':x',
      '%E2%80%8B',
      '%C2%AD',
      'p%C3%A0id',
      'pa%C4%B1d',
      '%EF%BC%8F',
      '%EF%BC%8E',
      '%09',
      '/index.php',
      '/app.php/',
    ],
  )
  const target = fc.array(part, { maxLength: 12 }).map((parts) => `/${parts.join('')}`)
  const around = fc.tuple(target, target).map(([before, after]) => `${before}/a/paid${after}`)
  fc.assert(
    fc.property(fc.oneof(target, around), (requested) => {
      const url = URL.parse(`https://a.example${requested}`)
      if (!url) return
      const isPaid = prices.find({ method: 'GET', url, fields: [] }) !== 'free'
      expect(isPaid || !leadsTo(url.pathname, '/a/paid'), `${requested} is served as the paid one`).toBe(true)
    }),
    { numRuns: atDepth(20_000, 1_500) },
  )
})

describe('amounts', () => {
  test.each([
    ['0.01', '10000'],
    ['1', '1000000'],
    ['1.5', '1500000'],
    ['0.123456', '123456'],
    ['18446744073709.551615', '18446744073709551615'],
  ])('%s is %s units', (text, units) => expect(smallestUnits(text, 6)).toBe(units))

  test.each([
    '',
    '.5',
    '5.',
    '-1',
    '+1',
    '1e3',
    '01',
    '0',
    '0.000000',
    '1,5',
    ' 1',
    '0x1',
    'NaN',
    'Infinity',
    '0.0000001',
    '0.0100000',
    '18446744073709.551616',
    '9'.repeat(1_000_000),
    0.01 as never,
    undefined as never,
  ])('%s is refused', (text) => expect(() => smallestUnits(text, 6)).toThrow('amount'))

  test('back and forth, nothing is lost', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), (units) => {
        const digits = String(units).padStart(7, '0')
        expect(smallestUnits(`${digits.slice(0, -6)}.${digits.slice(-6)}`, 6)).toBe(String(units))
      }),
      { numRuns: atDepth(10_000, 500) },
    )
  })
})

describe('options that are wrong', () => {
  const right = { payTo: PAY_TO, network: 'sui:testnet' as const, routes: [{ path: '/a', amount: '0.01' }] }
  test.each([
    ['payTo', { payTo: '0x5e' }],
    ['payTo', { payTo: 'somebody' }],
    ['payTo', { payTo: undefined as never }],
    ['network', { network: 'eip155:1' as never }],
    ['routes', { routes: [] }],
    ['routes', { routes: undefined as never }],
    ['path', { routes: [{ path: 'a', amount: '1' }] }],
    ['path', { routes: [{ path: '/a/../b', amount: '1' }] }],
    ['path', { routes: [{ path: '/a?b', amount: '1' }] }],
    ['path', { routes: [{ path: '/a/*', amount: '1' }] }],
    ['/x402/prepare', { routes: [{ path: '/x402/prepare', amount: '1' }] }],
    ['methods', { routes: [{ path: '/a', methods: [], amount: '1' }] }],
    ['methods', { routes: [{ path: '/a', methods: ['GET POST'], amount: '1' }] }],
    [
      'two prices',
      {
        routes: [
          { path: '/a', amount: '1' },
          { path: '/A/', methods: ['GET'], amount: '2' },
        ],
      },
    ],
    ['amount', { routes: [{ path: '/a', amount: 0.01 as never }] }],
    ['0.01', { routes: [{ path: '/a', amount: '0.001' }] }],
  ])('%s', (name, change) => {
    expect(() => parsePrices({ ...right, ...change })).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(name) }),
    )
  })
})
