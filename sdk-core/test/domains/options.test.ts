// The options of custom domains: names as people write them, and a clear word about each that cannot be served.

import { expect, it } from 'vitest'
import { parseDomainOptions } from '../../src/domains/parse-options.ts'

const AGREED = { agreeTerms: true }

it('takes names in any case, with a dot at the end, and in other scripts', () => {
  const { domains, acme } = parseDomainOptions(['Shop.Example.org.', 'bücher.example'], AGREED)
  expect(domains.map(({ domain }) => domain)).toEqual(['shop.example.org', 'xn--bcher-kva.example'])
  expect(acme).toMatchObject({
    directory: 'https://acme-v02.api.letsencrypt.org/directory',
    email: undefined,
  })
})

it.each<[unknown[], unknown, RegExp]>([
  [['shop.example.org'], undefined, /set acme: { agreeTerms: true } .* or bring one/],
  [['shop.example.org'], { agreeTerms: false }, /agreeTerms must be true/],
  [['shop.example.org'], { ...AGREED, agreeterms: 1 }, /acme has no option agreeterms/],
  [['shop.example.org'], { ...AGREED, email: 'a b@c' }, /acme.email/],
  [['shop.example.org'], { ...AGREED, directory: 'http://acme.test' }, /acme.directory must be an https URL/],
  [['shop.example.org'], { ...AGREED, externalAccountBinding: { keyId: 'a' } }, /hmacKey in base64url/],
  [['*.example.org'], AGREED, /is a wildcard/],
  [['https://shop.example.org'], AGREED, /leave out https/],
  [['shop.example.org:443'], AGREED, /leave out .* the port/],
  [['192.0.2.1'], AGREED, /is an IP address/],
  [['0x7f.1'], AGREED, /is an IP address/],
  [['localhost'], AGREED, /only one label/],
  [['-a.example.org'], AGREED, /is not a domain name/],
  [['a..example.org'], AGREED, /is not a domain name/],
  [[`${'a'.repeat(64)}.example.org`], AGREED, /is not a domain name/],
  [['a.example.org', 'A.example.org'], AGREED, /names a.example.org twice/],
  [Array.from({ length: 9 }, (_, at) => `a${at}.example.org`), AGREED, /at most 8/],
  [[7], AGREED, /neither a name nor/],
  [[{ domain: 'a.example.org', certificate: { chain: 'x' } }], undefined, /needs chain and key/],
])('refuses %j with %j', (domains, acme, message) => {
  expect(() => parseDomainOptions(domains, acme)).toThrow(message)
})
