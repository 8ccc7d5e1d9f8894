// Which hosts mean the machine itself, whichever device opens them.

import { expect, test } from 'vitest'
import { isOwnMachine } from '../src/own-machine.ts'

test.each([
  'https://localhost',
  'https://LOCALHOST.:1',
  'https://demo.relay.localhost:4433',
  'https://127.0.0.1:4433',
  'https://127.1',
  'https://[0:0:0:0:0:0:0:1]:4433',
])('%s leads each device to itself', (url) => {
  expect(isOwnMachine(new URL(url).hostname)).toBe(true)
})

test.each([
  'https://demo.relay.example',
  'https://localhost.example',
  'https://notlocalhost',
  'https://127.0.0.1.example',
  'https://128.0.0.1',
  'https://192.168.0.1',
  'https://[::2]',
])('%s leads elsewhere', (url) => {
  expect(isOwnMachine(new URL(url).hostname)).toBe(false)
})
