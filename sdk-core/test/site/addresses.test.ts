// The link that the relay of a site has for it.

import { describe, expect, it } from 'vitest'
import type { Registration } from '../../src/control/lease.ts'
import { addressesOf } from '../../src/site/addresses.ts'

const LABEL = `demo-${'ab'.repeat(20)}`

function shareUrl(fields: Partial<Registration>, portSuffix = ''): string | undefined {
  const lease = {
    hostname: 'demo.relay.example',
    canonicalHostname: `${LABEL}.relay.example`,
    extensions: new Set(['go']),
    ...fields,
  } as Registration
  return addressesOf(lease, portSuffix).shareUrl
}

describe('shareUrl', () => {
  it('is at the host of the relay, with the name that visitors see (protocol §16.1.4)', () => {
    expect(shareUrl({})).toBe('https://relay.example/go/demo')
    expect(shareUrl({}, ':4443')).toBe('https://relay.example:4443/go/demo')
    expect(shareUrl({ hostname: '' })).toBe(`https://relay.example/go/${LABEL}`)
    expect(shareUrl({ hostname: 'demo.localhost' }, ':4443')).toBe('https://localhost:4443/go/demo')
  })

  it('is not there at a relay that lists no such links (protocol §4.1.2)', () => {
    expect(shareUrl({ extensions: new Set() })).toBeUndefined()
  })
})
