// Settings: what the environment means, and a clear sentence for what it cannot mean.

import { describe, expect, test } from 'vitest'
import { readSettings } from '../src/settings.ts'

const URL = 'https://relay.example.com'

describe('readSettings', () => {
  test('path and query of SVC_URL are ignored; its port is bound unless SNI_PORT says otherwise', () => {
    const settings = readSettings({ SVC_URL: 'https://Relay.Example.com:8443/path?query' })
    expect(settings).toMatchObject({
      rootHost: 'relay.example.com',
      host: 'relay.example.com:8443',
      sniPort: 8443,
    })
    expect(readSettings({ SVC_URL: URL }).sniPort).toBe(443)
    expect(readSettings({ SVC_URL: URL, SNI_PORT: '4433' })).toMatchObject({
      host: 'relay.example.com',
      sniPort: 4433,
    })
  })

  test.each([
    [{}, /^SVC_URL: .*needed/],
    [{ SVC_URL: 'relay' }, /^SVC_URL: "relay" is not a URL/],
    [{ SVC_URL: 'http://relay.example.com' }, /^SVC_URL: must begin with https/],
    [{ SVC_URL: 'https://192.0.2.1' }, /^SVC_URL: needs a host name/],
    [{ SVC_URL: 'https://[2001:db8::1]' }, /^SVC_URL: needs a host name/],
    [{ SVC_URL: URL, SNI_PORT: '0' }, /^SNI_PORT: "0" is not a port/],
    [{ SVC_URL: URL, SNI_PORT: '443x' }, /^SNI_PORT/],
    [{ SVC_URL: URL, SNI_PORT: '65536' }, /^SNI_PORT/],
    [{ SVC_URL: URL, LOG_LEVEL: 'loud' }, /^LOG_LEVEL: one of/],
  ])('%j is refused', (env, message) => {
    expect(() => readSettings(env)).toThrow(message)
  })
})
