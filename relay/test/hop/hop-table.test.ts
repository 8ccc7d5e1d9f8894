// The table of hop routes: its bounds, and what it remembers of routes that are gone.

import { expect, test } from 'vitest'
import { now } from '../../src/core/clock.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { type HopEntry, HopRoutes } from '../../src/features/overlay/hop/hop-routes.ts'
import { HOP_REMOVED_MAX, HOP_ROUTES } from '../../src/features/overlay/hop/limits.ts'
import { newLease } from '../support/lease.ts'

let made = 0
function nextLease(): Lease {
  made += 1
  return newLease({ identity: { name: 'demo', address: `0x${made.toString(16).padStart(40, '0')}` } })
}

function entry(key: string, lease: Lease, inMs = 60_000): HopEntry {
  const signedUntil = Date.now() + inMs
  return { key, lease, hostnameHash: '', next: undefined, signedUntil, expiresAt: now() + inMs }
}

test('has so many routes of all owners, and room again when one is gone', () => {
  const routes = new HopRoutes(() => {})
  let last = nextLease()
  for (let count = 0; count < HOP_ROUTES.max; count++) {
    if (count % HOP_ROUTES.perHolderWhenHalfFull === 0) last = nextLease()
    routes.add(entry(`${count}`, last))
  }
  const another = entry('another', nextLease())
  expect(() => routes.add(another)).toThrow('no room')
  last.end('expired')
  expect(routes.size).toBe(HOP_ROUTES.max - HOP_ROUTES.perHolderWhenHalfFull)
  routes.add(another)
  routes.close()
})

test('owners with as many routes as they may have leave half of the room to others', () => {
  const routes = new HopRoutes(() => {})
  const owners = Array.from({ length: HOP_ROUTES.max / HOP_ROUTES.perHolder }, nextLease)
  const codes = new Set<unknown>()
  for (const [index, owner] of owners.entries())
    for (let count = 0; count < HOP_ROUTES.perHolder; count++)
      try {
        routes.add(entry(`${index} ${count}`, owner))
      } catch (error) {
        codes.add((error as { code?: unknown }).code)
      }
  expect([...codes]).toEqual(['rate_limited'])
  expect(routes.size).toBeLessThan(HOP_ROUTES.max * 0.6)
  routes.add(entry('another', nextLease()))
  routes.close()
})

test('takes no route of a lease that has ended, and keeps nothing of it', () => {
  const routes = new HopRoutes(() => {})
  const lease = nextLease()
  lease.end('unregistered')
  expect(() => routes.add(entry('late', lease))).toThrow('has ended')
  expect(routes.size).toBe(0)
  routes.close()
})

test('has no route of a lease any more that visitors may not reach', () => {
  const told: [string, boolean][] = []
  const routes = new HopRoutes((key, added) => told.push([key, added !== undefined]))
  const lease = nextLease()
  lease.setRouted(true)
  routes.add(entry('one', lease))
  lease.setRouted(false)
  expect(told).toEqual([
    ['one', true],
    ['one', false],
  ])
  routes.close()
})

test('remembers so many removals, and forgets the oldest first', () => {
  const routes = new HopRoutes(() => {})
  const until = Date.now() + 60_000
  for (let count = 0; count <= HOP_REMOVED_MAX; count++) routes.remove(`${count}`, until)
  const lease = nextLease()
  expect(() => routes.add({ ...entry('1', lease), signedUntil: until })).toThrow('later signature')
  routes.add({ ...entry('0', lease), signedUntil: until })
  routes.close()
})

test('tells of a hostname that comes and goes, and not of a renewal', () => {
  const told: [string, boolean][] = []
  const routes = new HopRoutes((key, added) => told.push([key, added !== undefined]))
  const lease = nextLease()
  routes.add(entry('one', lease))
  routes.add(entry('one', lease, 61_000))
  routes.add(entry('two', lease))
  lease.end('unregistered')
  expect(told.filter(([, isThere]) => !isThere)).toEqual([
    ['one', false],
    ['two', false],
  ])
  expect(routes.size).toBe(0)
  routes.close()
})
