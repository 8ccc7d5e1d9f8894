// A host and its port as text.

import { expect, test } from 'vitest'
import { hostPort } from '../src/host-port.ts'

test.each([
  ['relay.example', 'relay.example:443'],
  ['192.0.2.1', '192.0.2.1:443'],
  ['2001:db8::1', '[2001:db8::1]:443'],
])('%s', (host, text) => expect(hostPort(host, 443)).toBe(text))
